import { getCiphers, type SecureVersion } from 'node:tls';
import type { SniPair } from '../http/serving-tls.ts';
import { table } from '../util/text-table.ts';
import { bothOrNeither, nearestName } from './checks.ts';
import type { CommandLine } from './command-line.ts';
import { list, repeated, text, UsageError } from './flag.ts';

export const tlsFlags = {
  certFile: text('tls-cert-file', {
    default: '',
    meaning:
      'default certificate (CA certificates appended); when certificate and key are missing a self-signed pair is generated into the certificate directory',
  }),
  keyFile: text('tls-private-key-file', { default: '', meaning: 'matching private key' }),
  sni: repeated('tls-sni-cert-key', {
    default: [],
    meaning:
      'certificate and key paths, optionally followed by a colon and domain patterns; repeatable; non-wildcard matches win over wildcards and explicit patterns win over extracted names',
    check: sniPairs,
  }),
  minVersion: text('tls-min-version', {
    default: '',
    meaning: 'VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13',
    check: minVersion,
  }),
  ciphers: list('tls-cipher-suites', {
    default: [],
    meaning: 'list of suites; default is the runtime default',
    check: ciphers,
  }),
  curves: list('tls-curve-preferences', {
    default: [],
    since: 36,
    meaning:
      "key exchanges by their numbers in TLS: 23, 24, 25 (P-256, P-384, P-521), 29 (X25519), 4588 (X25519MLKEM768); default is the runtime's",
    check: curves,
  }),
};

/** Certificates, and the encryption of connections. */
export type TlsOptions = ReturnType<typeof readTls>;

/** @throws UsageError */
export function readTls(line: CommandLine) {
  const { certFile, keyFile, sni, minVersion, ciphers, curves } = line.valuesOf(tlsFlags);
  bothOrNeither({ flag: tlsFlags.certFile, file: certFile }, { flag: tlsFlags.keyFile, file: keyFile });
  return Object.freeze({ certFile, keyFile, sni, settings: { minVersion, ciphers, curves } });
}

const VERSIONS: Readonly<Record<string, SecureVersion>> = table({
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
});

/** IANA's names, which the flag takes, by OpenSSL's, which the runtime takes. Those of TLS 1.3 have the same in both. */
const SUITES: Readonly<Record<string, string>> = table({
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  // The insecure ones.
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: 'ECDHE-ECDSA-RC4-SHA',
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: 'ECDHE-RSA-DES-CBC3-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: 'ECDHE-RSA-RC4-SHA',
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: 'DES-CBC3-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_RC4_128_SHA: 'RC4-SHA',
});

/** As in Go, the suites of TLS 1.3 cannot be chosen: they stay when the flag names none of them. */
const TLS_1_3 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

function minVersion(version: string, flag: string): SecureVersion {
  const found = version === '' ? 'TLSv1.2' : VERSIONS[version];
  if (found !== undefined) return found;
  throw new UsageError(
    `${flag}: ${JSON.stringify(version)} must be one of ${Object.keys(VERSIONS).join(', ')}`,
  );
}

/** OpenSSL's list; undefined: the runtime's. */
function ciphers(names: readonly string[], flag: string): string | undefined {
  if (names.length === 0) return undefined;
  const available = new Set(getCiphers());
  const chosen = names.map((name) => {
    const suite = SUITES[name];
    if (suite === undefined) {
      const nearest = nearestName(name, Object.keys(SUITES));
      throw new UsageError(
        `${flag}: unknown suite ${name}${nearest === undefined ? '' : `: did you mean ${nearest}?`}`,
      );
    }
    if (!available.has(suite.toLowerCase()))
      throw new UsageError(`${flag}: this runtime's TLS library has no ${name}`);
    return suite;
  });
  const modern = chosen.some((suite) => TLS_1_3.includes(suite)) ? [] : TLS_1_3;
  return [...new Set([...modern, ...chosen])].join(':');
}

/** OpenSSL's names of TLS' named groups that Go knows, by their numbers (IANA, TLS Supported Groups). */
const CURVES: ReadonlyMap<number, string> = new Map([
  [23, 'P-256'],
  [24, 'P-384'],
  [25, 'P-521'],
  [29, 'X25519'],
  [4588, 'X25519MLKEM768'],
]);

/** OpenSSL's list; undefined: the runtime's. */
function curves(numbers: readonly string[], flag: string): string | undefined {
  const names = numbers.map((text) => {
    const name = /^\d+$/.test(text) ? CURVES.get(Number(text)) : undefined;
    if (name !== undefined) return name;
    throw new UsageError(`${flag}: ${JSON.stringify(text)} must be one of ${[...CURVES.keys()].join(', ')}`);
  });
  const twice = numbers.find((_, at) => names.indexOf(names[at] ?? '') !== at);
  if (twice !== undefined) throw new UsageError(`${flag}: ${twice} is given twice`);
  return names.length === 0 ? undefined : names.join(':');
}

/** `cert,key` or `cert,key:name,name`. */
function sniPairs(values: readonly string[], flag: string): readonly SniPair[] {
  return values.map((value) => {
    const colon = value.indexOf(':');
    const files = (colon < 0 ? value : value.slice(0, colon)).split(',').map((file) => file.trim());
    const [certFile = '', keyFile = '', ...more] = files;
    const wrong = (why: string): UsageError => new UsageError(`${flag}: ${JSON.stringify(value)}: ${why}`);
    if (certFile === '' || keyFile === '' || more.length > 0)
      throw wrong('a certificate file and a key file belong before the colon, separated by a comma');
    const names =
      colon < 0
        ? []
        : value
            .slice(colon + 1)
            .split(',')
            .map((name) => name.trim());
    if (names.includes('')) throw wrong('a name is empty');
    const broken = names.find((name) => !/^(\*|(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*)$/i.test(name));
    if (broken !== undefined) throw wrong(`${JSON.stringify(broken)} is no domain, and no *.domain`);
    return { certFile, keyFile, names };
  });
}
