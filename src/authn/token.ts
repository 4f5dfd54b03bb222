import { type Authentication, joinErrors } from './authenticator.ts';

/** Finds out whose token it is. Undefined: not one of its kind; another may know it. */
export interface TokenAuthenticator {
  /**
   * `audiences`: whom the token must be for, at least one of them.
   * @throws Error when the token is of its kind and wrong
   */
  authenticate(
    token: string,
    audiences: readonly string[],
  ): Promise<Authentication | undefined> | Authentication | undefined;
}

/** The first that knows a token decides; without one, all errors are told together. */
export function createTokenUnion(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  return {
    authenticate: async (token, audiences) => {
      const errors: unknown[] = [];
      for (const authenticator of authenticators) {
        try {
          const found = await authenticator.authenticate(token, audiences);
          if (found !== undefined) return found;
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw joinErrors(errors);
      return undefined;
    },
  };
}

export const intersect = (some: readonly string[], others: readonly string[]): string[] =>
  some.filter((one) => others.includes(one));

/** Tokens that do not say whom they are for are for this server and nobody else. */
export function forAudiences(implicit: readonly string[], tokens: TokenAuthenticator): TokenAuthenticator {
  return {
    authenticate: async (token, asked) => {
      const audiences = intersect(implicit, asked);
      if (audiences.length === 0) return undefined;
      const found = await tokens.authenticate(token, asked);
      return found === undefined ? undefined : { ...found, audiences };
    },
  };
}
