import type { EncryptedForm } from './media-type.ts';

/** What is written under a key says so; {@link EncryptedForm} without what is encrypted. */
export type KeyLabel = Omit<EncryptedForm, 'of'>;

export interface Sealed {
  readonly label: KeyLabel;
  readonly bytes: Buffer;
}

/** One element of `providers`. Answers at once where it has the key. */
export interface Provider {
  readonly kind: 'aescbc' | 'aesgcm' | 'secretbox' | 'kms';
  /** What Kubernetes writes in front of such values, by which its metrics name the provider. */
  readonly prefix: string;
  /** By which key it would encrypt now; undefined: it does not know. */
  readonly label: KeyLabel | undefined;
  /** @throws Error, one line */
  seal(plain: Buffer, context: Buffer): Sealed | Promise<Sealed>;
  /** Whether it may have made what says so. */
  knows(label: KeyLabel): boolean;
  /** @throws Error, one line */
  open(label: KeyLabel, sealed: Buffer, context: Buffer): Buffer | Promise<Buffer>;
}
