import type { PairFiles } from '../http/tls/serving-tls.ts';
import type { ServerOptions } from '../options/options.ts';

/** --tls-cert-file and --tls-private-key-file, or else the pair made for this server. */
export const chooseServingPair = (options: ServerOptions, own: PairFiles): PairFiles =>
  options.tlsCertFile === '' ? own : { certFile: options.tlsCertFile, keyFile: options.tlsKeyFile };
