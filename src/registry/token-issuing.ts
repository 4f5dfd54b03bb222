/** Identity of an object that a token names. */
export interface TokenSubject {
  readonly name: string;
  /** Absent for what is known by name only. */
  readonly uid?: string;
}

/** A service account token to be made. At most one of pod and secret is given; a node comes alone or with its pod. */
export interface TokenOrder {
  readonly namespace: string;
  readonly account: TokenSubject;
  readonly pod?: TokenSubject;
  readonly secret?: TokenSubject;
  readonly node?: TokenSubject;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** After so long the token is told apart in the audit log. */
  readonly warnAfterSeconds?: number;
  readonly issuedAt: Date;
}

/** Makes the tokens that the serviceaccounts/token subresource hands out. */
export interface TokenIssuing {
  /** --api-audiences */
  readonly apiAudiences: readonly string[];
  /** --service-account-max-token-expiration; 0: none. */
  readonly maxExpirationSeconds: number;
  /** --service-account-extend-token-expiration */
  readonly extendsExpiration: boolean;
  /** Feature gates ServiceAccountTokenNodeBinding and ServiceAccountTokenPodNodeInfo. */
  readonly bindsNodes: boolean;
  readonly tellsNodes: boolean;
  sign(order: TokenOrder): Promise<string>;
}
