import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkFiles } from '../../src/options/files.ts';
import { parseOptions } from '../../src/options/options.ts';
import { Authority } from '../kit/pki.ts';

const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-files-'));
const BROKEN = join(folder, 'broken.pem');
writeFileSync(BROKEN, 'nothing in PEM form');
const ABSENT = join(folder, 'absent');
const refusal = (...args: string[]): unknown => {
  try {
    checkFiles(parseOptions(args));
    return undefined;
  } catch (error) {
    return error;
  }
};

test.each([
  ['--token-auth-file'],
  ['--client-ca-file'],
  ['--authentication-config'],
  ['--authentication-token-webhook-config-file'],
  ['--requestheader-client-ca-file'],
  ['--oidc-ca-file', '--oidc-issuer-url=https://a', '--oidc-client-id=b'],
  ['--service-account-key-file'],
  ['--service-account-signing-key-file', `--service-account-key-file=${BROKEN}`],
  ['--authorization-config'],
  ['--authorization-policy-file', '--authorization-mode=ABAC'],
  ['--authorization-webhook-config-file', '--authorization-mode=Webhook'],
  ['--admission-control-config-file'],
  ['--audit-policy-file'],
  ['--audit-webhook-config-file'],
  ['--peer-ca-file', '--feature-gates=UnknownVersionInteroperabilityProxy=true'],
  ['--agent-certificate-authority'],
  ['--agent-client-certificate', `--agent-client-key=${BROKEN}`],
  ['--agent-client-key', `--agent-client-certificate=${BROKEN}`],
  ['--proxy-client-cert-file', `--proxy-client-key-file=${BROKEN}`],
  ['--proxy-client-key-file', `--proxy-client-cert-file=${BROKEN}`],
  ['--tls-cert-file', `--tls-private-key-file=${BROKEN}`],
  ['--tls-private-key-file', `--tls-cert-file=${BROKEN}`, `--service-account-key-file=${BROKEN}`],
  ['--cluster-signing-cert-file', `--cluster-signing-key-file=${BROKEN}`],
  ['--cluster-signing-key-file', `--cluster-signing-cert-file=${BROKEN}`],
  ['--kvstore-cafile'],
  ['--kvstore-certfile'],
  ['--kvstore-keyfile'],
])('the error for a file that is not there names its flag, %s', (flag, ...others) => {
  const error = refusal(`${flag}=${ABSENT}`, ...others);
  expect(String(error)).toBe(
    `Error: ${flag}: ${ABSENT}: ENOENT: no such file or directory, open '${ABSENT}'`,
  );
});

test.each([
  ['--client-ca-file'],
  ['--requestheader-client-ca-file'],
  ['--oidc-ca-file', '--oidc-issuer-url=https://a', '--oidc-client-id=b'],
  ['--peer-ca-file', '--feature-gates=UnknownVersionInteroperabilityProxy=true'],
  ['--agent-certificate-authority'],
  ['--kvstore-cafile'],
])('the error for a file without an authority names its flag, %s', (flag, ...others) => {
  const error = refusal(`${flag}=${BROKEN}`, ...others);
  expect(String(error)).toBe(`Error: ${flag}: ${BROKEN} holds no certificate in PEM form`);
});

test.each([
  ['--agent-client-certificate', '--agent-client-key'],
  ['--proxy-client-cert-file', '--proxy-client-key-file'],
  ['--tls-cert-file', '--tls-private-key-file'],
  ['--kvstore-certfile', '--kvstore-keyfile'],
  ['--cluster-signing-cert-file', '--cluster-signing-key-file'],
])(
  'the error for a key that does not fit its certificate names their flags, %s and %s',
  (certFlag, keyFlag) => {
    const why = `${certFlag} and ${keyFlag}: ${BROKEN} and ${BROKEN} are no certificate and its key`;
    expect(String(refusal(`${certFlag}=${BROKEN}`, `${keyFlag}=${BROKEN}`))).toContain(why);
  },
);

test('of certificates for names, the one that cannot be read is named', () => {
  expect(String(refusal(`--tls-sni-cert-key=${ABSENT},${BROKEN}`))).toContain(
    `--tls-sni-cert-key: ${ABSENT}: ENOENT`,
  );
  expect(String(refusal(`--tls-sni-cert-key=${BROKEN},${BROKEN}`))).toContain(
    `--tls-sni-cert-key: ${BROKEN} and ${BROKEN} are no certificate and its key`,
  );
});

test('without files, and with the authorities of the host, there is nothing to refuse', () => {
  expect(refusal()).toBeUndefined();
  expect(refusal('--kvstore-cafile=system')).toBeUndefined();
});

test('clients and front proxies with one authority need the names of proxies, since 1.35', async () => {
  const [one, other] = [await Authority.create('one'), await Authority.create('other')];
  const file = (name: string, ...authorities: Authority[]): string => {
    writeFileSync(join(folder, name), authorities.map(({ pem }) => pem).join(''));
    return join(folder, name);
  };
  const shared = [
    `--client-ca-file=${file('clients', one)}`,
    `--requestheader-client-ca-file=${file('proxies', other, one)}`,
  ];
  const newer = '--emulated-version=1.35';
  expect(String(refusal(...shared, newer))).toContain('overlapping certificates');
  expect(refusal(...shared, '--emulated-version=1.34')).toBeUndefined();
  expect(refusal(...shared, newer, '--requestheader-allowed-names=proxy')).toBeUndefined();
  expect(
    refusal(...shared.slice(0, 1), newer, `--requestheader-client-ca-file=${file('apart', other)}`),
  ).toBeUndefined();
});

test('a file in the folder of the server may be made by the start itself', () => {
  const own = join(folder, 'data', 'certificates', 'ca.crt');
  expect(refusal(`--data-dir=${join(folder, 'data')}`, `--client-ca-file=${own}`)).toBeUndefined();
  expect(String(refusal(`--client-ca-file=${own}`))).toContain('ENOENT');
});
