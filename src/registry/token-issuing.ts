/** The identity of an object in a token. */
export interface TokenSubject {
  readonly name: string;
  /** Absent for objects that are identified by name only. */
  readonly uid?: string;
}

/** A service account token to issue. At most one of pod and secret is given; a node comes alone or with its pod. */
export interface TokenOrder {
  readonly namespace: string;
  readonly account: TokenSubject;
  readonly pod?: TokenSubject;
  readonly secret?: TokenSubject;
  readonly node?: TokenSubject;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** The age at which the audit log marks the token. */
  readonly warnAfterSeconds?: number;
  readonly issuedAt: Date;
}

/** Issues the tokens of the serviceaccounts/token subresource. */
export interface TokenIssuing {
  /** --api-audiences */
  readonly apiAudiences: readonly string[];
  /** --service-account-max-token-expiration; 0: none. */
  readonly maxExpirationSeconds: number;
  /** --service-account-extend-token-expiration */
  readonly extendsExpiration: boolean;
  /** The longest life of an extended token, which is a year unless an external signer allows less. */
  readonly maxExtendedSeconds: number;
  /** Feature gates ServiceAccountTokenNodeBinding and ServiceAccountTokenPodNodeInfo. */
  readonly bindsNodes: boolean;
  readonly tellsNodes: boolean;
  /** Feature gate TokenRequestServiceAccountUIDValidation. */
  readonly checksUids: boolean;
  sign(order: TokenOrder): Promise<string>;
}
