#pragma once
#include <stddef.h>
#define EXIT_SUCCESS 0
void *malloc(size_t);
void free(void *);
