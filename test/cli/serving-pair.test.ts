import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ensureCertificates, writeKubeconfig } from '../../src/cli/certificates.ts';
import { chooseSigningPair, findAuthority, identifyServer } from '../../src/cli/serving-pair.ts';
import { parseOptions } from '../../src/options/options.ts';
import { Authority } from '../kit/pki.ts';

const trimmed = (pem: string): string => pem.replaceAll(/\s+/g, '');

test('a certificate that the cluster signed is verified by its authority, as it is written', async () => {
  const own = await Authority.create('own');
  const { cert } = await own.issue({ subject: 'CN=server', serves: true });
  expect(findAuthority(cert, own.pem)).toBe(own.pem);
});

test('a certificate from a file is verified by the root in its chain, or by the certificate itself', async () => {
  const own = await Authority.create('own');
  const other = await Authority.create('other');
  const { cert } = await other.issue({ subject: 'CN=server', serves: true });
  expect(trimmed(findAuthority(`${cert}${other.pem}`, own.pem))).toBe(trimmed(other.pem));
  expect(trimmed(findAuthority(cert, own.pem))).toBe(trimmed(cert));
});

test('the authority of client certificates signs requests: the one made here, one from the flags, or none whose key is elsewhere', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-signing-pair-'));
  const certificates = await ensureCertificates(folder, []);
  rmSync(folder, { recursive: true });
  const own = { certFile: join(folder, 'ca.crt'), keyFile: join(folder, 'ca.key') };
  const choose = (...flags: string[]) => chooseSigningPair(parseOptions(flags), certificates);
  const given = ['--cluster-signing-cert-file=c', '--cluster-signing-key-file=k'];
  expect(choose()).toEqual(own);
  expect(choose('--client-ca-file=other')).toBeUndefined();
  expect(choose(...given)).toEqual({ certFile: 'c', keyFile: 'k' });
  expect(choose(...given, '--client-ca-file=other')).toEqual({ certFile: 'c', keyFile: 'k' });
});

test('the kubeconfig verifies a certificate from a file by its authority, and by a name that it has', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-served-at-'));
  const certificates = await ensureCertificates(folder, []);
  const other = await Authority.create('other');
  const { cert, key } = await other.issue({ subject: 'CN=server', serves: true });
  const certFile = join(folder, 'tls.crt');
  const keyFile = join(folder, 'tls.key');
  writeFileSync(certFile, `${cert}${other.pem}`);
  writeFileSync(keyFile, key);
  const clusterAt = (host: string, ...flags: string[]) => {
    const { tls } = parseOptions(flags);
    const path = join(folder, 'admin.kubeconfig');
    writeKubeconfig(
      path,
      identifyServer(tls, certificates, { url: `https://${host}:6443`, host }),
      certificates,
    );
    const { cluster } = parse(readFileSync(path, 'utf8')).clusters[0];
    return {
      ...cluster,
      'certificate-authority-data': trimmed(
        Buffer.from(cluster['certificate-authority-data'], 'base64').toString(),
      ),
    };
  };
  const brought = [`--tls-cert-file=${certFile}`, `--tls-private-key-file=${keyFile}`];
  expect(clusterAt('127.0.0.1')).toEqual({
    server: 'https://127.0.0.1:6443',
    'certificate-authority-data': trimmed(certificates.ca),
  });
  expect(clusterAt('10.0.0.7', ...brought)).toEqual({
    server: 'https://10.0.0.7:6443',
    'certificate-authority-data': trimmed(other.pem),
    'tls-server-name': 'localhost',
  });
  expect(clusterAt('localhost', ...brought)).not.toHaveProperty('tls-server-name');
  rmSync(folder, { recursive: true });
});
