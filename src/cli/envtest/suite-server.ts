import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../../options/flag.ts';
import { parseOptions } from '../../options/options.ts';
import { processFlags } from '../../options/process.ts';
import { threadFlags } from '../../options/serving.ts';
import { ownFlags, storageFlags } from '../../options/storage.ts';
import { tlsFlags } from '../../options/tls.ts';
import { namespaceFlags } from '../../options/writing.ts';
import { copyCertificates } from '../embedded/cluster-template.ts';
import { type ServeTurn, serve } from '../serve.ts';
import { valueIn, type Word } from './argument-words.ts';

export interface SuiteDatabase {
  readonly url: string;
  /** What it was copied from, and the suite's certificates are. */
  readonly template: string;
}

/** Serves with kube-apiserver's flags. @throws UsageError, Error */
export async function serveSuite(
  words: readonly Word[],
  { url, template }: SuiteDatabase,
  turn?: ServeTurn,
): Promise<void> {
  const options = parseOptions(toOwnFlags(words, url));
  copyCertificates(template, options.storage.dataDir);
  await serve(options, turn);
}

/**
 * Kubernetes' flags in ours. A serving pair in --cert-dir is used as it is, as kube-apiserver does: the cluster's own authority need not have signed it.
 * @throws UsageError
 */
export function toOwnFlags(words: readonly Word[], databaseUrl: string): string[] {
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
      .flatMap((word) => toOwn(word, databaseUrl)),
    ...(brings ? [`${tlsFlags.certFile.shown}=${certFile}`, `${tlsFlags.keyFile.shown}=${keyFile}`] : []),
    // A suite has a server of its own, which is to start quickly.
    ...(isGiven(threadFlags.threads.name) ? [] : [`${threadFlags.threads.shown}=1`]),
    // Suites make their own, as nothing else does where kube-apiserver is alone.
    ...(isGiven(namespaceFlags.fillsNamespaces.name)
      ? []
      : [`${namespaceFlags.fillsNamespaces.shown}=false`]),
    ...(isGiven(ownFlags.dataDir.name) ? [] : [`${ownFlags.dataDir.shown}=${dataDir}`]),
    processFlags.exitsWithParent.shown,
  ];
}

function toOwn({ name = '', value = '', text }: Word, databaseUrl: string): readonly string[] {
  if (name === 'etcd-servers') return [`${storageFlags.databaseUrls.shown}=${databaseUrl}`];
  // Old suites switch off what Kubernetes has not had since 1.24.
  if (name === 'insecure-port' && value === '0') return [];
  if (name.startsWith('insecure-'))
    throw new UsageError(
      `--${name}: there is no port without TLS, as in Kubernetes since 1.24: leave it out`,
    );
  if (!name.startsWith('etcd-')) return [text];
  return [text.replace('etcd-', 'kvstore-')];
}
