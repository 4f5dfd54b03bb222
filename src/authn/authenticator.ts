import type { ApiRequest, UserInfo } from '../request/api-request.ts';
import { StorageError } from '../storage/errors.ts';
import { errorText } from '../util/error-text.ts';

/** The credentials of a request. */
export interface Credentials extends Pick<ApiRequest, 'headers' | 'peerCertificate'> {
  /** Names and values in turn, as they were sent. */
  readonly raw: { readonly headers: readonly string[] };
  /** The audiences that a token must have; absent: those of this server (--api-audiences). */
  readonly audiences?: readonly string[];
}

/** The result of authentication: the user, with warnings and audit annotations. */
export interface Authentication {
  readonly user: UserInfo;
  /** The requested audiences that the credentials are for; absent for credentials without audiences (certificates). */
  readonly audiences?: readonly string[];
  /** Shown to the caller. */
  readonly warnings?: readonly string[];
  /** For the audit log. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** When the credentials expire, in epoch milliseconds. */
  readonly expiresAtMs?: number;
}

/** Finds the sender of a request. Undefined: these credentials are of another kind. */
export interface Authenticator {
  /** @throws Error for wrong credentials of its kind */
  authenticate(credentials: Credentials): Promise<Authentication | undefined> | Authentication | undefined;
}

const ANONYMOUS_NAME = 'system:anonymous';
const AUTHENTICATED_GROUP = 'system:authenticated';
const UNAUTHENTICATED_GROUP = 'system:unauthenticated';

export const ANONYMOUS: UserInfo = {
  username: ANONYMOUS_NAME,
  uid: '',
  groups: [UNAUTHENTICATED_GROUP],
  extra: {},
};

/**
 * The first authenticator that knows the caller decides. Wrong credentials of one kind do not matter when others are right; when
 * none are right, the errors are joined. Every known user is in system:authenticated.
 */
export function createUnion(authenticators: readonly Authenticator[]): Authenticator {
  return {
    authenticate: async (credentials) => {
      const errors: unknown[] = [];
      for (const authenticator of authenticators) {
        try {
          const answer = authenticator.authenticate(credentials);
          const found = answer instanceof Promise ? await answer : answer;
          if (found !== undefined) return { ...found, user: withGroup(found.user) };
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw joinErrors(errors);
      return undefined;
    },
  };
}

/** Joins errors. A storage failure takes precedence: storage may know the caller. */
export function joinErrors(errors: readonly unknown[]): Error {
  const unread = errors.find((error) => error instanceof StorageError);
  if (unread !== undefined) return unread;
  const texts = [...new Set(errors.map(errorText))];
  const [first = ''] = texts;
  return new Error(texts.length === 1 ? first : `[${texts.join(', ')}]`, { cause: errors[0] });
}

const known = new WeakMap<UserInfo, UserInfo>();

/** Authenticators return the same object for the same caller, so its completed form is cached. */
function withGroup(user: UserInfo): UserInfo {
  if (user.username === ANONYMOUS_NAME) return user;
  if (user.groups.includes(AUTHENTICATED_GROUP) || user.groups.includes(UNAUTHENTICATED_GROUP)) return user;
  let complete = known.get(user);
  if (complete === undefined) {
    complete = { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] };
    known.set(user, complete);
  }
  return complete;
}

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
