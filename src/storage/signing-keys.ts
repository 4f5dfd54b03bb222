/** A key of service account tokens, shared by all servers of a cluster. All keys verify, one signs. */
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
  /** Returns the keys, oldest first; one of them signs, if any. */
  list(): Promise<readonly StoredSigningKey[]>;
}
