/** A key of service account tokens, shared by all servers of a cluster. All verify, one signs. */
export interface StoredSigningKey {
  readonly id: string;
  /** Private, PEM. */
  readonly pem: string;
  readonly signs: boolean;
  /** RFC 3339. */
  readonly madeAt: string;
  readonly signsFrom: string;
}

export interface SigningKeyStore {
  /** Oldest first; one of them signs, if there is any. */
  list(): Promise<readonly StoredSigningKey[]>;
}
