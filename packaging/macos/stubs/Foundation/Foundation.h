#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#define __MAC_OS_X_VERSION_MIN_REQUIRED 140000
#define __MAC_OS_X_VERSION_MAX_ALLOWED 140000
#define FALSE 0
#define TRUE 1
#define IBAction void
#define IBOutlet

// objc/objc.h
#ifdef __aarch64__
typedef bool BOOL;
#else
typedef signed char BOOL;
#endif
#define YES ((BOOL)1)
#define NO ((BOOL)0)
#define nil NULL
typedef long NSInteger;
typedef unsigned long NSUInteger;
typedef double NSTimeInterval;
typedef double CGFloat;
typedef struct CGPoint { CGFloat x, y; } CGPoint;
typedef struct CGSize { CGFloat width, height; } CGSize;
typedef struct CGRect { CGPoint origin; CGSize size; } CGRect;
typedef CGPoint NSPoint;
typedef CGSize NSSize;
typedef CGRect NSRect;
CGRect CGRectMake(CGFloat x, CGFloat y, CGFloat width, CGFloat height);
NSPoint NSMakePoint(CGFloat x, CGFloat y);
NSSize NSMakeSize(CGFloat w, CGFloat h);
typedef NSUInteger NSStringEncoding;
enum { NSUTF8StringEncoding = 4 };

@class NSString, NSArray, NSEnumerator, NSOperationQueue, NSDictionary;

@protocol NSObject
- (id)performSelector:(SEL)selector withObject:(id)object;
- (instancetype)retain;
- (oneway void)release;
- (instancetype)autorelease;
@end

__attribute__((objc_root_class)) @interface NSObject <NSObject>
+ (instancetype)alloc;
+ (instancetype)new;
+ (Class)class;
- (instancetype)init;
- (void)performSelectorOnMainThread:(SEL)selector withObject:(id)object waitUntilDone:(BOOL)wait;
@end

typedef struct { unsigned long state; id __unsafe_unretained *itemsPtr; unsigned long *mutationsPtr; unsigned long extra[5]; } NSFastEnumerationState;
@protocol NSFastEnumeration
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state objects:(id __unsafe_unretained [])buffer count:(NSUInteger)len;
@end

@interface NSString : NSObject
@property (readonly) NSUInteger length;
@property (readonly) const char *UTF8String;
- (instancetype)initWithCString:(const char *)text encoding:(NSStringEncoding)encoding;
- (BOOL)isEqualToString:(NSString *)other;
+ (instancetype)stringWithUTF8String:(const char *)text;
+ (instancetype)stringWithFormat:(NSString *)format, ...;
@end
@interface NSSimpleCString : NSString @end
@interface NSConstantString : NSSimpleCString @end
void NSLog(NSString *format, ...);

@interface NSValue : NSObject @end
@interface NSNumber : NSValue
@property (readonly) int intValue;
@property (readonly) NSInteger integerValue;
+ (NSNumber *)numberWithInt:(int)value;
@end

@interface NSArray<ObjectType> : NSObject <NSFastEnumeration>
@property (readonly) NSUInteger count;
@property (readonly) ObjectType firstObject;
- (NSString *)componentsJoinedByString:(NSString *)separator;
- (ObjectType)objectAtIndex:(NSUInteger)index;
- (ObjectType)objectAtIndexedSubscript:(NSUInteger)index;
- (NSEnumerator *)objectEnumerator;
+ (instancetype)arrayWithObjects:(const id [])objects count:(NSUInteger)count;
@end
@interface NSEnumerator : NSObject
- (id)nextObject;
@end
@interface NSData : NSObject
+ (instancetype)dataWithBytes:(const void *)bytes length:(NSUInteger)length;
- (instancetype)initWithBytes:(const void *)bytes length:(NSUInteger)length;
@end
@interface NSError : NSObject @end
@interface NSException : NSObject @end
@interface NSCondition : NSObject @end
@interface NSUserDefaults : NSObject
@property (class, readonly) NSUserDefaults *standardUserDefaults;
- (NSString *)stringForKey:(NSString *)key;
- (BOOL)boolForKey:(NSString *)key;
@end
@interface NSBundle : NSObject
@property (class, readonly) NSBundle *mainBundle;
@property (readonly) NSString *bundleIdentifier;
@property (readonly) NSArray<NSString *> *localizations;
@property (readonly) NSArray<NSString *> *preferredLocalizations;
@end

typedef NSString *NSNotificationName;
@interface NSNotification : NSObject
+ (instancetype)notificationWithName:(NSNotificationName)name object:(id)object;
@end
@interface NSNotificationCenter : NSObject
@property (class, readonly) NSNotificationCenter *defaultCenter;
- (id<NSObject>)addObserverForName:(NSNotificationName)name object:(id)object queue:(NSOperationQueue *)queue usingBlock:(void (^)(NSNotification *note))block;
@end
@interface NSDistributedNotificationCenter : NSNotificationCenter
+ (NSDistributedNotificationCenter *)defaultCenter;
@end

// dispatch/dispatch.h
typedef NSObject *dispatch_queue_t;
dispatch_queue_t dispatch_get_main_queue(void);
void dispatch_async(dispatch_queue_t queue, void (^block)(void));

// CoreFoundation
typedef const struct __attribute__((objc_bridge(NSString))) __CFString *CFStringRef;
