import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../../options/flag.ts';
import { parseOptions } from '../../options/options.ts';
import { processFlags } from '../../options/process.ts';
import { threadFlags } from '../../options/serving.ts';
import { ownFlags, storageFlags } from '../../options/storage.ts';
import { tlsFlags } from '../../options/tls.ts';
import { NEVER } from '../../util/pause.ts';
import { copyCertificates } from '../embedded/cluster-template.ts';
import { serve } from '../serve.ts';
import { ensureTemplate } from '../warm-start.ts';
import { readWords, valueIn, type Word } from './argument-words.ts';
import { readUrl, urlFile } from './etcd.ts';

/** Serves with kube-apiserver's flags, on the database of the stand-in for etcd that --etcd-servers names. @throws UsageError, Error */
export async function runKubeApiserver(args: readonly string[]): Promise<void> {
  const words = readWords(args);
  const flags = toOwnFlags(words, databaseOf);
  const options = parseOptions(flags);
  copyCertificates(await ensureTemplate(() => {}, NEVER), options.storage.dataDir);
  await serve(options);
}

/**
 * Kubernetes' flags in ours. A serving pair in --cert-dir is used as it is, as kube-apiserver does: the cluster's own authority need not have signed it.
 * @throws UsageError
 */
export function toOwnFlags(words: readonly Word[], findDatabase: (servers: string) => string): string[] {
  const certDir = valueIn(words, 'cert-dir') ?? '';
  const pair = ['apiserver.crt', 'apiserver.key'].map((name) => join(certDir, name));
  const [certFile = '', keyFile = ''] = pair;
  const isGiven = (name: string): boolean => words.some((word) => word.name === name);
  const brings = certDir !== '' && !isGiven(tlsFlags.certFile.name) && pair.every((path) => existsSync(path));
  const dataDir =
    certDir === '' ? mkdtempSync(join(tmpdir(), 'kube-apiserver-')) : join(certDir, 'pg-apiserver');
  return [
    ...words
      .filter(({ name }) => !(brings && name === 'cert-dir'))
      .flatMap((word) => toOwn(word, findDatabase)),
    ...(brings ? [`${tlsFlags.certFile.shown}=${certFile}`, `${tlsFlags.keyFile.shown}=${keyFile}`] : []),
    // A suite has a server of its own, which is to start quickly.
    ...(isGiven(threadFlags.threads.name) ? [] : [`${threadFlags.threads.shown}=1`]),
    ...(isGiven(ownFlags.dataDir.name) ? [] : [`${ownFlags.dataDir.shown}=${dataDir}`]),
    processFlags.exitsWithParent.shown,
  ];
}

function toOwn(
  { name = '', value = '', text }: Word,
  findDatabase: (servers: string) => string,
): readonly string[] {
  if (name === 'etcd-servers') return [`${storageFlags.databaseUrls.shown}=${findDatabase(value)}`];
  // Old suites switch off what Kubernetes has not had since 1.24.
  if (name === 'insecure-port' && value === '0') return [];
  if (name.startsWith('insecure-'))
    throw new UsageError(
      `--${name}: there is no port without TLS, as in Kubernetes since 1.24: leave it out`,
    );
  if (!name.startsWith('etcd-')) return [text];
  return [text.replace('etcd-', 'kvstore-')];
}

function databaseOf(servers: string): string {
  const flag = '--etcd-servers';
  if (/^postgres(ql)?:/.test(servers)) return servers;
  const file = urlFile(readUrl(servers, flag).port);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  throw new UsageError(
    `${flag}: at ${servers} is no etcd of pg-apiserver envtest of this user: start the one of the same folder first`,
  );
}
