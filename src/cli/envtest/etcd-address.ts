import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../../options/flag.ts';
import { makeFolder } from '../../util/make-folder.ts';
import { cacheFolder } from '../embedded/cluster-template.ts';

/** What kube-apiserver's stand-in finds by the address of an etcd. */
interface EtcdParts {
  readonly url: string;
  /** The socket of the process that is ready to serve on the database; undefined: there is none. */
  readonly spare?: string;
}

/** Only this user can read the file: the URL has a password. Over HTTP any user of the machine could ask for it. */
const fileOf = (port: string): string => join(cacheFolder(), `etcd-${port}.json`);

export function publishEtcd(port: string, parts: EtcdParts): void {
  makeFolder(dirname(fileOf(port)));
  withdrawEtcd(port);
  writeFileSync(fileOf(port), JSON.stringify(parts), { mode: 0o600 });
}

export const withdrawEtcd = (port: string): void => rmSync(fileOf(port), { force: true });

/** `servers`: as --etcd-servers has it. @throws UsageError */
export function findEtcd(servers: string): EtcdParts {
  const flag = '--etcd-servers';
  if (/^postgres(ql)?:/.test(servers)) return { url: servers };
  const file = fileOf(readUrl(servers, flag).port);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  throw new UsageError(
    `${flag}: at ${servers} is no etcd of pg-apiserver envtest of this user: start the one of the same folder first`,
  );
}

/** Returns the first of several. @throws UsageError */
export function readUrl(texts: string, flag = '--listen-client-urls'): URL {
  const [first = ''] = texts.split(',');
  const url = URL.canParse(first) ? new URL(first) : undefined;
  if (url?.protocol === 'http:' && url.port !== '') return url;
  throw new UsageError(`${flag}: ${JSON.stringify(first)} is not like http://127.0.0.1:2379`);
}
