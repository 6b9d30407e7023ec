#pragma once
#import <Foundation/Foundation.h>
typedef unsigned int IOPMAssertionID, IOPMAssertionLevel;
typedef int IOReturn;
enum { kIOReturnSuccess = 0, kIOPMAssertionLevelOn = 255 };
#define kIOPMAssertionTypeNoDisplaySleep ((CFStringRef)@"NoDisplaySleepAssertion")
IOReturn IOPMAssertionCreateWithName(CFStringRef type, IOPMAssertionLevel level, CFStringRef name, IOPMAssertionID *id);
IOReturn IOPMAssertionRelease(IOPMAssertionID id);
