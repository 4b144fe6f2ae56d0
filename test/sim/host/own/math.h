// A project's header of a name that the system has, too.
#pragma once
inline float2 turned(float2 v) { return make_float2(-v.y, v.x); }
