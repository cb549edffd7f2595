/* What the Metal functions use of <metal_stdlib>, in C++. */
#include <cmath>
#define device
namespace metal {
typedef unsigned int uint;
struct uint2 { uint x, y; };
struct uint4 {
    uint x, y, z, w;
    uint operator[](uint i) const { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
};
struct float3 {
    float x, y, z;
    float3() = default;
    float3(float x, float y, float z) : x(x), y(y), z(z) {}
};
struct float4 {
    union {
        struct { float x, y, z, w; };
        float3 xyz;
    };
    float4() = default;
    float4(float x, float y, float z, float w) : x(x), y(y), z(z), w(w) {}
    float4(float3 v, float w) : x(v.x), y(v.y), z(v.z), w(w) {}
    float operator[](uint i) const { return (&x)[i]; }
};
inline float3 operator+(float3 a, float3 b) { return float3(a.x + b.x, a.y + b.y, a.z + b.z); }
inline float3 operator-(float3 a, float3 b) { return float3(a.x - b.x, a.y - b.y, a.z - b.z); }
inline float3 operator*(float s, float3 a) { return float3(s * a.x, s * a.y, s * a.z); }
inline float3 &operator+=(float3 &a, float3 b) { return a = a + b; }
inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline float3 cross(float3 a, float3 b)
{
    return float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
inline float3 mix(float3 a, float3 b, float share) { return a + share * (b - a); }
inline float4 operator+(float4 a, float4 b)
{
    return float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
inline float4 operator-(float4 a) { return float4(-a.x, -a.y, -a.z, -a.w); }
inline float4 operator*(float s, float4 a) { return float4(s * a.x, s * a.y, s * a.z, s * a.w); }
inline float4 operator/(float4 a, float s) { return float4(a.x / s, a.y / s, a.z / s, a.w / s); }
inline float4 &operator+=(float4 &a, float4 b) { return a = a + b; }
inline float4 &operator/=(float4 &a, float s) { return a = a / s; }
inline float dot(float4 a, float4 b) { return dot(a.xyz, b.xyz) + a.w * b.w; }
inline float length(float4 a) { return std::sqrt(dot(a, a)); }
inline float4 normalize(float4 a) { return a / length(a); }
inline float3 normalize(float3 a) { return (1.0f / std::sqrt(dot(a, a))) * a; }
inline float sqrt(float a) { return std::sqrt(a); }
inline float sign(float a) { return a > 0.0f ? 1.0f : a < 0.0f ? -1.0f : 0.0f; }
}
