#pragma once
double floor(double);
double ceil(double);
