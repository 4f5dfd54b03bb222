/** Node's `reusePort`, and the platforms on which listeners of one port share its connections. */
const PLATFORMS: readonly string[] = ['linux', 'freebsd'];

/** Why listeners cannot share a port here; undefined: they can. */
export function whyNotShared(platform: string, nodeVersion: string): string | undefined {
  if (!PLATFORMS.includes(platform)) return `listeners cannot share a port on ${platform}`;
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const can = major === 22 ? minor >= 12 : major === 23 ? minor >= 1 : major > 23;
  return can
    ? undefined
    : `listeners cannot share a port with Node.js ${nodeVersion}, but with 22.12 and 23.1`;
}
