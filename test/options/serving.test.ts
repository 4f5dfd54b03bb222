import { mkdtempSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/options/flag.ts';
import { parseOptions } from '../../src/options/options.ts';
import { threadsFor } from '../../src/options/serving.ts';

const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-options-'));
function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const ALPHA = '--feature-gates=LoggingAlphaOptions=true';

test.each([
  [['--serving-threads=-1'], 'must be between 0 and 64'],
  [['--serving-threads=65'], 'must be between 0 and 64'],
  [['--goaway-chance=0.03'], 'must be between 0 and 0.02'],
  [['--goaway-chance=-0.01'], 'must be between 0 and 0.02'],
  [['--http2-max-streams-per-connection=-1'], 'must not be negative'],
  [['--http2-max-streams-per-connection=4294967296'], '4294967296 must be at most 4294967295'],
  [['--max-connection-bytes-per-sec=-1'], 'must not be negative'],
  [['--request-timeout=0'], 'must be more than 0'],
  [['--min-request-timeout=0'], 'must be more than 0'],
  [['--advertise-address=here'], 'is not an IP address'],
  [['--cluster-service-node-port=70000'], 'at most 65535'],
  [
    ['--cluster-service-node-port=443'],
    '--cluster-service-node-port: 443 must be in --service-node-port-range, 30000-32767',
  ],
  [['--endpoint-reconciler-type=leases'], 'must be lease, none or master-count'],
  [['--cors-allowed-origins=example.com'], 'must be pinned'],
  [['--cors-allowed-origins=//example.com'], 'must be pinned'],
  [['--cors-allowed-origins=^http://(a$'], 'is no regular expression'],
  [['--strict-transport-security-directives=max-age=x'], 'must be max-age=<seconds>'],
  [['--tls-min-version=TLS12'], 'must be one of VersionTLS10'],
  [['--tls-cipher-suites=TLS_AES_128_GCM_SHA265'], 'did you mean TLS_AES_128_GCM_SHA256?'],
  [['--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA'], "this runtime's TLS library has no"],
  [['--tls-sni-cert-key=a.crt'], 'a certificate file and a key file'],
  [['--tls-sni-cert-key=a.crt,a.key:'], 'a name is empty'],
  [['--tls-sni-cert-key=a.crt,a.key:a b'], 'is no domain'],
  [['--log-text-split-stream'], 'needs --feature-gates=LoggingAlphaOptions=true'],
  [['--log-text-info-buffer-size=1Ki'], 'needs --feature-gates=LoggingAlphaOptions=true'],
  [[ALPHA, '--log-text-info-buffer-size=much'], 'is not a quantity of bytes'],
  [['--vmodule=server'], 'is not of the form pattern=N'],
  [['--show-hidden-metrics-for-version=1.29'], 'only the previous minor version'],
  [['--allow-metric-labels=metric=a'], 'is not of the form MetricName,LabelName'],
  [['--allow-metric-labels-manifest=/nowhere'], 'ENOENT'],
  [['--tracing-config-file=/nowhere'], 'ENOENT'],
  [[`--tracing-config-file=${file('a.yaml', 'kind: Other')}`], 'kind TracingConfiguration'],
  [
    ['--feature-gates=APIServerTracing=false', '--tracing-config-file=x'],
    'needs --feature-gates=APIServerTracing',
  ],
  [['--emulated-version=1.30'], 'emulates 1.31 to 1.36'],
  [['--emulated-version=etcd=1.31'], 'unknown component'],
  [['--version=1.31'], 'of the form vX.Y.Z'],
  [['--shutdown-delay-duration=soon'], 'is not a duration'],
  [['--shutdown-delay-durations=1s'], 'did you mean --shutdown-delay-duration?'],
])('%j is refused with one line that helps', (args, message) => {
  expect(() => parseOptions(args)).toThrow(UsageError);
  expect(() => parseOptions(args)).toThrow(message);
});

test('certificates for names keep their commas, and each flag is one', () => {
  const { sni } = parseOptions([
    '--tls-sni-cert-key=a.crt,a.key:*.a.test,a.test',
    '--tls-sni-cert-key=b.crt,b.key',
  ]).tls;
  expect(sni).toEqual([
    { certFile: 'a.crt', keyFile: 'a.key', names: ['*.a.test', 'a.test'] },
    { certFile: 'b.crt', keyFile: 'b.key', names: [] },
  ]);
});

test('cipher suites leave TLS 1.3 as it is unless one of its own is named', () => {
  const ciphers = (names: string): string | undefined =>
    parseOptions([`--tls-cipher-suites=${names}`]).tls.settings.ciphers;
  expect(ciphers('TLS_RSA_WITH_AES_128_GCM_SHA256')?.split(':')).toEqual([
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'AES128-GCM-SHA256',
  ]);
  expect(ciphers('TLS_AES_256_GCM_SHA384')).toBe('TLS_AES_256_GCM_SHA384');
  expect(parseOptions([]).tls.settings).toEqual({ minVersion: 'TLSv1.2', ciphers: undefined });
});

test('label values come from file and flag, and the flag wins', () => {
  const manifest = file('labels.yaml', 'metric1,label1: v1,v2\nmetric2,label1: v1\n');
  const { allowedValues } = parseOptions([
    `--allow-metric-labels-manifest=${manifest}`,
    "--allow-metric-labels=metric1,label1='v3,v4',metric3,label2='v5'",
    '--allow-metric-labels=metric4,label=v6',
  ]).observability.metrics;
  expect(Object.fromEntries(allowedValues)).toEqual({
    'metric1,label1': new Set(['v3', 'v4']),
    'metric2,label1': new Set(['v1']),
    'metric3,label2': new Set(['v5']),
    'metric4,label': new Set(['v6']),
  });
});

test('both names of the component may emulate the one version, and the reported version is free', () => {
  expect(() => parseOptions(['--emulated-version=cluster=1.31'])).not.toThrow();
  expect(() => parseOptions(['--emulated-version=kube=1.31'])).not.toThrow();
  expect(parseOptions(['--version=v1.32.7']).observability.reportedVersion).toBe('v1.32.7');
  expect(parseOptions([]).observability.reportedVersion).toBeUndefined();
});

test('master-count is an old name of what lease does', () => {
  expect(parseOptions(['--endpoint-reconciler-type=master-count']).services.endpointReconciler).toBe('lease');
});

test('one core is left for the thread that follows the database, and no more than eight threads serve unasked', () => {
  const cores = [1, 2, 3, 4, 9, 10, 64];
  expect(cores.map(threadsFor)).toEqual([1, 1, 2, 3, 8, 8, 8]);
  const threadsOf = (...flags: string[]): number => parseOptions(flags).serving.threads;
  expect(threadsOf()).toBe(threadsFor(availableParallelism()));
  expect(threadsOf('--serving-threads=0')).toBe(threadsOf());
  expect(threadsOf('--serving-threads=12')).toBe(12);
  expect(threadsOf('--warm-start')).toBe(1);
  expect(threadsOf('--warm-start', '--serving-threads=3')).toBe(3);
});
