import { type Authentication, joinErrors } from './authenticator.ts';

/** Finds the owner of a token. Undefined: the token is of another kind. */
export interface TokenAuthenticator {
  /**
   * `audiences`: the token must be for at least one of them.
   * @throws Error for a wrong token of its kind
   */
  authenticate(
    token: string,
    audiences: readonly string[],
  ): Promise<Authentication | undefined> | Authentication | undefined;
}

/** The first authenticator that knows a token decides; without one, the errors are joined. */
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

/** Tokens without audiences are for this server alone. */
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
