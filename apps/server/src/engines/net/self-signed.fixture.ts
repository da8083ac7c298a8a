/**
 * A certificate for localhost and upstream.invalid that no authority vouches for, valid for a hundred years. Protects
 * nothing.
 */
export const selfSigned = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgqkpGf9/FguciwuaR
n2ZMUIsKeWlov7VV3hfGHXKGKzChRANCAAR65pDfEASfoyHS0jgA0GLquVDmz4Ej
keoAl9VtbqFlpVP8lB8pgP+iqSleqgQWT5p1KJn4GSDt4cCgYknOf4cv
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBpzCCAU2gAwIBAgIUPv/XnJGsyjxUpzB/cB8JJKHuTlMwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNzE5NTM1M1oYDzIxMjYxMDI0
MTk1MzUzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAR65pDfEASfoyHS0jgA0GLquVDmz4EjkeoAl9VtbqFlpVP8lB8pgP+i
qSleqgQWT5p1KJn4GSDt4cCgYknOf4cvo3sweTAdBgNVHQ4EFgQUF4nZURknFhT1
J+AHm4bl1OhpNI8wHwYDVR0jBBgwFoAUF4nZURknFhT1J+AHm4bl1OhpNI8wDwYD
VR0TAQH/BAUwAwEB/zAmBgNVHREEHzAdgglsb2NhbGhvc3SCEHVwc3RyZWFtLmlu
dmFsaWQwCgYIKoZIzj0EAwIDSAAwRQIhAMj2WOOIENVGFRd1/I2U+XchSDKSVf+X
9obLKn4tzjGqAiAXf2EC2bjnFU5SFMkMR8LJ+E0Jyc9ALs7D+DRDjni9NQ==
-----END CERTIFICATE-----`,
};
