import { createHash } from 'node:crypto';

/** The value of a label whose text is not shown: a name of a key, an issuer, a server. Empty for an empty text. */
export const hashedLabel = (text: string): string =>
  text === '' ? '' : `sha256:${createHash('sha256').update(text).digest('hex')}`;
