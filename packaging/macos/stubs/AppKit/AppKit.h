#pragma once
#import <Foundation/Foundation.h>

@class NSApplication, NSEvent, NSImage, NSMenu, NSMenuItem, NSScreen, NSWindow, NSView;

extern const double NSAppKitVersionNumber;
extern NSNotificationName const NSApplicationDidFinishLaunchingNotification;
extern NSNotificationName const NSPreferredScrollerStyleDidChangeNotification;
extern NSApplication *NSApp;

typedef NSInteger NSControlStateValue;
static const NSControlStateValue NSControlStateValueOff = 0;
static const NSControlStateValue NSControlStateValueOn = 1;

typedef NSUInteger NSEventModifierFlags;
enum : NSEventModifierFlags {
	NSEventModifierFlagShift = 1 << 17, NSEventModifierFlagControl = 1 << 18, NSEventModifierFlagOption = 1 << 19, NSEventModifierFlagCommand = 1 << 20
};
typedef NSUInteger NSEventType;
enum : NSEventType { NSEventTypeLeftMouseDown = 1, NSEventTypeRightMouseDown = 3, NSEventTypeApplicationDefined = 15 };
typedef unsigned long long NSEventMask;
@class NSGraphicsContext;
@interface NSEvent : NSObject
@property (readonly) NSWindow *window;
@property (readonly) NSEventModifierFlags modifierFlags;
@property (class, readonly) NSTimeInterval doubleClickInterval;
+ (id)addLocalMonitorForEventsMatchingMask:(NSEventMask)mask handler:(NSEvent * (^)(NSEvent *event))block;
+ (NSEvent *)otherEventWithType:(NSEventType)type location:(NSPoint)location modifierFlags:(NSEventModifierFlags)flags timestamp:(NSTimeInterval)time
	windowNumber:(NSInteger)number context:(NSGraphicsContext *)unused subtype:(short)subtype data1:(NSInteger)data1 data2:(NSInteger)data2;
@end

typedef NSUInteger NSAutoresizingMaskOptions;
enum : NSAutoresizingMaskOptions { NSViewWidthSizable = 2, NSViewHeightSizable = 16 };
@interface NSResponder : NSObject
- (void)rightMouseUp:(NSEvent *)event;
@end
@interface NSView : NSResponder
@property NSRect frame;
@property (readonly) NSWindow *window;
@property BOOL autoresizesSubviews;
@property NSAutoresizingMaskOptions autoresizingMask;
@property (copy) NSString *toolTip;
- (instancetype)initWithFrame:(NSRect)frame;
- (void)addSubview:(NSView *)view;
@end

typedef NSUInteger NSWindowStyleMask;
enum : NSWindowStyleMask { NSWindowStyleMaskFullScreen = 1 << 14 };
@interface NSScreen : NSObject
@property (readonly) NSRect frame;
@property (class, readonly) NSArray<NSScreen *> *screens;
@end
@interface NSWindow : NSResponder
@property NSWindowStyleMask styleMask;
@property (readonly) NSScreen *screen;
@property (readonly) NSRect frame;
- (void)setFrame:(NSRect)frame display:(BOOL)display;
- (void)toggleFullScreen:(id)sender;
@end

@interface NSImage : NSObject
@property NSSize size;
@property (getter=isTemplate) BOOL template;
- (instancetype)initWithData:(NSData *)data;
@end
@interface NSColorSpace : NSObject
@property (class, readonly) NSColorSpace *sRGBColorSpace;
@end
@interface NSColor : NSObject
@property (class, readonly) NSColor *selectedMenuItemTextColor;
- (NSColor *)colorUsingColorSpace:(NSColorSpace *)space;
- (void)getRed:(CGFloat *)red green:(CGFloat *)green blue:(CGFloat *)blue alpha:(CGFloat *)alpha;
@end
@interface NSFont : NSObject
@property (readonly) CGFloat pointSize;
+ (NSFont *)menuFontOfSize:(CGFloat)size;
@end
typedef NSInteger NSScrollerStyle;
@interface NSScroller : NSView
@property (class, readonly) NSScrollerStyle preferredScrollerStyle;
@end

typedef NSUInteger NSCellImagePosition;
enum : NSCellImagePosition { NSNoImage = 0, NSImageOnly = 1, NSImageLeft = 2 };
@interface NSControl : NSView
@property SEL action;
- (void)performClick:(id)sender;
@end
@interface NSButton : NSControl
@property (copy) NSString *title;
@property (strong) NSImage *image;
@property NSCellImagePosition imagePosition;
@end

@interface NSMenuItem : NSObject
@property (copy) NSString *title;
@property (strong) NSImage *image;
@property (copy) NSString *toolTip;
@property (copy) NSString *keyEquivalent;
@property NSEventModifierFlags keyEquivalentModifierMask;
@property NSInteger tag;
@property SEL action;
@property (weak) id target;
@property (strong) id representedObject;
@property (strong) NSMenu *submenu;
@property (assign) NSMenu *menu;
@property (readonly) BOOL hasSubmenu;
@property (getter=isEnabled) BOOL enabled;
@property (getter=isHidden) BOOL hidden;
@property (readonly, getter=isSeparatorItem) BOOL separatorItem;
@property NSControlStateValue state;
- (instancetype)initWithTitle:(NSString *)title action:(SEL)action keyEquivalent:(NSString *)key;
+ (NSMenuItem *)separatorItem;
@end
@protocol NSMenuDelegate <NSObject>
@optional
- (void)menuWillOpen:(NSMenu *)menu;
- (void)menuDidClose:(NSMenu *)menu;
@end
@interface NSMenu : NSObject
@property (copy) NSString *title;
@property (weak) id<NSMenuDelegate> delegate;
@property BOOL autoenablesItems;
@property (copy) NSArray<NSMenuItem *> *itemArray;
@property (readonly) NSInteger numberOfItems;
- (instancetype)initWithTitle:(NSString *)title;
- (NSMenuItem *)addItemWithTitle:(NSString *)title action:(SEL)action keyEquivalent:(NSString *)key;
- (void)addItem:(NSMenuItem *)item;
- (void)insertItem:(NSMenuItem *)item atIndex:(NSInteger)index;
- (NSMenuItem *)itemAtIndex:(NSInteger)index;
- (NSMenuItem *)itemWithTag:(NSInteger)tag;
- (void)removeItem:(NSMenuItem *)item;
- (void)removeItemAtIndex:(NSInteger)index;
- (void)removeAllItems;
@end

@interface NSStatusBarButton : NSButton @end
typedef NSUInteger NSStatusItemBehavior;
enum : NSStatusItemBehavior { NSStatusItemBehaviorRemovalAllowed = 1 << 1 };
@interface NSStatusItem : NSObject
@property (readonly) NSStatusBarButton *button;
@property (strong) NSMenu *menu;
@property (getter=isVisible) BOOL visible;
@property NSStatusItemBehavior behavior;
@end
static const CGFloat NSVariableStatusItemLength = -1.0;
@interface NSStatusBar : NSObject
@property (class, readonly) NSStatusBar *systemStatusBar;
- (NSStatusItem *)statusItemWithLength:(CGFloat)length;
@end

@protocol NSApplicationDelegate <NSObject>
@optional
- (void)applicationDidFinishLaunching:(NSNotification *)notification;
- (void)applicationWillTerminate:(NSNotification *)notification;
@end
@interface NSApplication : NSResponder
@property (class, readonly) NSApplication *sharedApplication;
@property (weak) id<NSApplicationDelegate> delegate;
@property (strong) NSMenu *mainMenu;
- (void)run;
- (void)stop:(id)sender;
- (void)postEvent:(NSEvent *)event atStart:(BOOL)atStart;
@end
