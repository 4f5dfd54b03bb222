import type { ApiRequest, UserInfo } from '../request/api-request.ts';

/** What a caller shows of itself. */
export type Credentials = Pick<ApiRequest, 'headers' | 'peerCertificate'>;

/** Finds out who sends a request. Undefined: this one cannot tell; another may. */
export interface Authenticator {
  /** @throws StatusError 401 when there are credentials and they are wrong */
  authenticate(credentials: Credentials): Promise<UserInfo | undefined> | UserInfo | undefined;
}

export const ANONYMOUS: UserInfo = {
  username: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: {},
};

const AUTHENTICATED_GROUP = 'system:authenticated';

/** The first that knows the caller decides. Everyone it knows is in system:authenticated. */
export function createUnion(authenticators: readonly Authenticator[]): Authenticator {
  return {
    authenticate: async (credentials) => {
      for (const authenticator of authenticators) {
        const user = await authenticator.authenticate(credentials);
        if (user !== undefined) return withGroup(user);
      }
      return undefined;
    },
  };
}

const known = new WeakMap<UserInfo, UserInfo>();

/** Authenticators hand out the same object for the same caller, so its completed form is made once. */
function withGroup(user: UserInfo): UserInfo {
  if (user.groups.includes(AUTHENTICATED_GROUP)) return user;
  let complete = known.get(user);
  if (complete === undefined) {
    complete = { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] };
    known.set(user, complete);
  }
  return complete;
}
