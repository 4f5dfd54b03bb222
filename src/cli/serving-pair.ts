import { readFileSync } from 'node:fs';
import type { ServerOptions } from '../options/options.ts';
import type { KeyPair } from './certificates.ts';

/** --tls-cert-file and --tls-private-key-file, or else the pair made for this data directory. */
export function readServingPair(options: ServerOptions, own: KeyPair): KeyPair {
  if (options.tlsCertFile === '') return own;
  return {
    certificate: readFileSync(options.tlsCertFile, 'utf8'),
    key: readFileSync(options.tlsKeyFile, 'utf8'),
  };
}
