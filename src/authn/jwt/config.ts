import type { CelProgram } from '../../cel/program.ts';

/** One issuer of tokens, and the mapping of its claims to a user. Checked, with compiled expressions. */
export interface JwtConfig {
  readonly issuer: {
    readonly url: string;
    /** Another place of discovery; '' for the place below the issuer's address. */
    readonly discoveryUrl: string;
    /** PEM; undefined: the host's authorities. */
    readonly certificateAuthority: string | undefined;
    /** A token must be for one of them. */
    readonly audiences: readonly string[];
  };
  /** The algorithms of signatures (RFC 7518, section 3.1). */
  readonly algorithms: readonly string[];
  /** Claims that must have this text. */
  readonly requiredClaims: ReadonlyMap<string, string>;
  readonly claimRules: readonly Rule[];
  readonly username: ClaimMapping;
  readonly groups: ClaimMapping | undefined;
  readonly uid: ClaimMapping | undefined;
  readonly extra: readonly { readonly key: string; readonly program: CelProgram }[];
  readonly userRules: readonly Rule[];
}

export type ClaimMapping =
  | { readonly kind: 'claim'; readonly claim: string; readonly prefix: string }
  | { readonly kind: 'expression'; readonly program: CelProgram };

export interface Rule {
  readonly program: CelProgram;
  readonly message: string;
}

export const JWT_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
] as const;
