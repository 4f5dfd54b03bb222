import type { EncryptedForm } from './media-type.ts';

/** Names the key of encrypted bytes; {@link EncryptedForm} without `of`. */
export type KeyLabel = Omit<EncryptedForm, 'of'>;

export interface Sealed {
  readonly label: KeyLabel;
  readonly bytes: Buffer;
}

/** One element of `providers`. Returns at once where it has the key. */
export interface Provider {
  readonly kind: 'aescbc' | 'aesgcm' | 'secretbox' | 'kms';
  /** Kubernetes' prefix of such values, by which its metrics name the provider. */
  readonly prefix: string;
  /** The key that would encrypt now; undefined when unknown. */
  readonly label: KeyLabel | undefined;
  /** @throws Error, one line */
  seal(plain: Buffer, context: Buffer): Sealed | Promise<Sealed>;
  /** Whether it may have encrypted what has this label. */
  knows(label: KeyLabel): boolean;
  /** @throws Error, one line */
  open(label: KeyLabel, sealed: Buffer, context: Buffer): Buffer | Promise<Buffer>;
}
