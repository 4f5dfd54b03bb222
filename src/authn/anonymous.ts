/** Which anonymous requests are allowed: --anonymous-auth, or `anonymous` of the authentication configuration. */
export interface AnonymousAccess {
  /** `path` is the request's, without its query. */
  allows(path: string): boolean;
}

export interface AnonymousConfig {
  readonly enabled: boolean;
  /** Paths that are open; undefined: all of them. */
  readonly paths?: readonly string[];
}

export function createAnonymousAccess({ enabled, paths }: AnonymousConfig): AnonymousAccess {
  if (!enabled) return { allows: () => false };
  if (paths === undefined || paths.length === 0) return { allows: () => true };
  const open = new Set(paths);
  return { allows: (path) => open.has(path) };
}
