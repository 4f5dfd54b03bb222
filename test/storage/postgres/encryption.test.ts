import { chmodSync, chownSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAuthority, createLeaf } from '../../../src/cli/certificate-authority.ts';
import { postgresAccount } from '../../../src/cli/embedded/account.ts';
import type { KeyPair } from '../../../src/cli/kept-keys.ts';
import { connectWritable } from '../../../src/storage/postgres/connection/connection.ts';
import type { TlsFiles } from '../../../src/storage/postgres/connection/connection-tls.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import { type PrivatePostgres, startPrivatePostgres } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';

/** An address of this machine that is not called loopback: connections to it arrive there all the same. */
const ELSEWHERE = '0.0.0.0';

let postgres: PrivatePostgres;
let authority: KeyPair;
const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-tls-'));
const caFile = join(folder, 'ca.crt');
const otherCaFile = join(folder, 'other.crt');

beforeAll(async () => {
  chmodSync(folder, 0o755);
  authority = await createAuthority();
  writeFileSync(caFile, authority.certificate);
  writeFileSync(otherCaFile, (await createAuthority()).certificate);
  const pair = await createLeaf(authority, { subject: 'CN=db', names: ['db.test'], ips: [ELSEWHERE] });
  const [certFile, keyFile] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  writeFileSync(certFile, pair.certificate);
  writeFileSync(keyFile, pair.key, { mode: 0o600 });
  const account = postgresAccount();
  if (account !== undefined) chownSync(keyFile, account.uid, account.gid);
  postgres = await startPrivatePostgres({
    settings: ['ssl=on', `ssl_cert_file=${certFile}`, `ssl_key_file=${keyFile}`],
  });
});

afterAll(() => postgres[Symbol.asyncDispose]());

function url(parameters = '', host = ELSEWHERE): string {
  const given = new URL(postgres.url);
  given.hostname = host;
  return `${given.href}${parameters}`;
}

async function kindOf(at: string, files: TlsFiles = {}): Promise<string> {
  const { encryption, client, close } = await connectWritable({ urls: [at], poolSize: 1, ...files }, 'test');
  try {
    const { rows } = await client.query<{ ssl: string }>(
      'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
    );
    // What the line says and what the server sees must agree.
    expect(encryption.includes('is encrypted')).toBe(rows[0]?.ssl === 't');
    return encryption.replace('the connection to PostgreSQL at ', '');
  } finally {
    await close();
  }
}

const PLAIN = `${ELSEWHERE} is plain because `;
const VERIFIED = `${ELSEWHERE} is encrypted, and its certificate verified by `;
const UNVERIFIED = `${ELSEWHERE} is encrypted, but its certificate is not verified because `;

test('what leaves the machine is encrypted unless the URL says otherwise; loopback is plain', async () => {
  expect(await kindOf(url())).toMatch(
    `${UNVERIFIED}no authority was given, and none of the system's vouches for it`,
  );
  expect(await kindOf(url('?sslmode=disable'))).toBe(`${PLAIN}sslmode=disable asks for it`);
  expect(await kindOf(url('', '127.0.0.1'))).toBe('127.0.0.1 is plain because it is on loopback');
});

test('a given authority must have signed the certificate, for the name that was dialled', async () => {
  expect(await kindOf(url(), { caFile })).toBe(VERIFIED + caFile);
  expect(await kindOf(url(`?sslrootcert=${caFile}`), { caFile: otherCaFile })).toBe(VERIFIED + caFile);
  await expect(kindOf(url(), { caFile: otherCaFile })).rejects.toThrow(
    /^the certificate of PostgreSQL at 0\.0\.0\.0 cannot be verified \(.*--kvstore-cafile or sslrootcert/,
  );
  await expect(kindOf(url('', '127.0.0.1'), { caFile })).rejects.toThrow('cannot be verified');
});

test('sslmode means what it means to libpq', async () => {
  expect(await kindOf(url('?sslmode=allow'))).toBe(
    `${PLAIN}sslmode=allow asks for it where the server takes it`,
  );
  expect(await kindOf(url('?sslmode=prefer'))).toBe(`${UNVERIFIED}sslmode=prefer does not ask for it`);
  expect(await kindOf(url('?sslmode=require', '127.0.0.1'))).toContain('sslmode=require does not ask for it');
  expect(await kindOf(url('?sslmode=require'), { caFile })).toBe(VERIFIED + caFile);
  expect(await kindOf(url('?sslmode=verify-ca', 'localhost'), { caFile })).toContain(
    'certificate verified by',
  );
  await expect(kindOf(url('?sslmode=verify-ca'), { caFile: otherCaFile })).rejects.toThrow(
    'cannot be verified',
  );
  await expect(kindOf(url('?sslmode=verify-full', 'localhost'), { caFile })).rejects.toThrow(
    'cannot be verified',
  );
  await expect(kindOf(url('?sslmode=verify-full'))).rejects.toThrow('cannot be verified');
  await expect(kindOf(url('?sslrootcert=system'))).rejects.toThrow('cannot be verified');
});

test('commits, reads, the first load and the tail are all encrypted', async () => {
  const log = openLog(url(), { caFile });
  const recorder = new Recorder();
  const stop = new AbortController();
  const tail = log.feed.run(await log.reader.currentRevision(), recorder, stop.signal);
  const revision = await log.committer.commit(write('create', 'one', undefined, 'x'.repeat(100_000)));
  await recorder.reached(toRevision(revision));
  await log.reader.currentRevision();
  let loaded = 0;
  const seen = new Set<string>();
  const look = async (): Promise<void> => {
    const client = await connectWritable({ urls: [url('?sslmode=disable')], poolSize: 1 }, 'look');
    const { rows } = await client.client.query<{ name: string; ssl: string }>(
      "SELECT regexp_replace(application_name, '( [0-9a-f]{8})? \\(.*$', '') AS name, ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name LIKE 'pg-apiserver %' AND pid <> pg_backend_pid()",
    );
    for (const { name, ssl } of rows) seen.add(`${name} ${ssl}`);
    await client.close();
  };
  const load = log.reader.loadCurrent(
    () => {},
    (objects) => {
      loaded += objects.length;
    },
  );
  await Promise.all([load, look()]);
  await look();
  expect(loaded).toBe(1);
  expect([...seen].filter((one) => one.endsWith(' f'))).toEqual([]);
  expect([...seen]).toEqual(
    expect.arrayContaining(['pg-apiserver commits t', 'pg-apiserver fresh t', 'pg-apiserver tail t']),
  );
  stop.abort();
  await tail;
  await log.close();
});

test('with sslmode=allow and prefer the other kind is tried where the server refuses the first', async () => {
  const file = join(postgres.folder, 'cluster', 'pg_hba.conf');
  const before = readFileSync(file, 'utf8');
  const reload = await connectWritable({ urls: [url('?sslmode=disable')], poolSize: 1 }, 'reload');
  const apply = async (type: 'hostssl' | 'hostnossl'): Promise<void> => {
    writeFileSync(file, `${type} all all all scram-sha-256\n`);
    await reload.client.query('SELECT pg_reload_conf()');
    await settled(type === 'hostssl' ? 'disable' : 'require');
  };
  await apply('hostssl');
  expect(await kindOf(url('?sslmode=allow'))).toBe(`${UNVERIFIED}sslmode=allow does not ask for it`);
  await apply('hostnossl');
  expect(await kindOf(url('?sslmode=prefer'))).toBe(
    `${PLAIN}sslmode=prefer allows it, and the server takes no TLS`,
  );
  await expect(kindOf(url('?sslmode=require'))).rejects.toMatchObject({ code: '28000' });
  writeFileSync(file, before);
  await reload.client.query('SELECT pg_reload_conf()');
  await reload.close();
});

/** The postmaster takes new rules a moment after the reload: waits until connections of this kind are refused. */
async function settled(refused: 'disable' | 'require'): Promise<void> {
  for (;;) {
    const error = await kindOf(url(`?sslmode=${refused}`)).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error !== undefined) return;
  }
}

test('a server without TLS is not talked to in plain, and the error says what to do', async () => {
  const silent = await startPrivatePostgres();
  const at = new URL(silent.url);
  at.hostname = ELSEWHERE;
  await expect(kindOf(at.href)).rejects.toThrow(
    'PostgreSQL at 0.0.0.0 offers no TLS: set ssl = on there, or write sslmode=disable into the URL',
  );
  expect(await kindOf(`${at.href}?sslmode=prefer`)).toContain('is plain because sslmode=prefer allows it');
  await silent[Symbol.asyncDispose]();
});
