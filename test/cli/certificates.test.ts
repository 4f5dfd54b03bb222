import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ensureCertificates } from '../../src/cli/certificates.ts';

function createFolder(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'pg-apiserver-certificates-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

test('certificates are made once, and the serving one anew for an address or name it does not hold', async () => {
  using folder = createFolder();
  const ensure = (addresses: readonly string[], names: readonly string[]) =>
    ensureCertificates(folder.path, addresses, { names });
  const first = await ensure(['10.1.2.3', 'fd00::1'], ['api.example.com']);
  expect(await ensure(['10.1.2.3', 'fd00::1'], ['api.example.com'])).toEqual(first);
  expect(await ensure(['fd00:0:0::1'], [])).toEqual(first);
  const moved = await ensure(['10.1.2.4'], []);
  const renamed = await ensure(['10.1.2.4'], ['example.com']);
  for (const { ca, admin } of [moved, renamed])
    expect({ ca, admin }).toEqual({ ca: first.ca, admin: first.admin });
  expect(new Set([first, moved, renamed].map(({ serving }) => serving.certificate)).size).toBe(3);
});

test('what is made is signed by the authority', async () => {
  using folder = createFolder();
  const { ca, caFile, serving, admin } = await ensureCertificates(folder.path, ['10.1.2.3']);
  expect(readFileSync(caFile, 'utf8')).toBe(ca);
  const authority = new X509Certificate(ca);
  for (const { certificate } of [serving, admin]) {
    const leaf = new X509Certificate(certificate);
    expect(leaf.verify(authority.publicKey) && leaf.checkIssued(authority)).toBe(true);
  }
  const own = new X509Certificate(serving.certificate);
  expect(own.checkHost('kubernetes.default.svc')).toBe('kubernetes.default.svc');
  expect(own.checkIP('10.1.2.3')).toBe('10.1.2.3');
  expect(new X509Certificate(admin.certificate).subject).toBe('CN=kubernetes-admin\nO=system:masters');
});

test('beside a pair that the flags bring, no other one is made', async () => {
  using folder = createFolder();
  const { serving: brought } = await ensureCertificates(folder.path, []);
  using own = createFolder();
  const { serving } = await ensureCertificates(own.path, ['10.1.2.3'], { brought });
  expect(serving).toEqual(brought);
  expect(readdirSync(own.path).sort()).toEqual(['admin.crt', 'admin.key', 'ca.crt', 'ca.key']);
});
