import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Target } from '../load/jobs.ts';

type Fields = Readonly<Record<string, string | undefined>>;

interface Config {
  readonly 'current-context': string;
  readonly contexts: readonly { readonly name: string; readonly context: Fields }[];
  readonly clusters: readonly { readonly name: string; readonly cluster: Fields }[];
  readonly users: readonly { readonly name: string; readonly user: Fields }[];
}

/** The current context's server and credentials: certificates and tokens, in the file or beside it. */
export function readKubeconfig(file: string): Target {
  const config: Config = parse(readFileSync(file, 'utf8'));
  const context = config.contexts.find(({ name }) => name === config['current-context'])?.context;
  const cluster = config.clusters.find(({ name }) => name === context?.cluster)?.cluster;
  const user = config.users.find(({ name }) => name === context?.user)?.user ?? {};
  if (cluster?.server === undefined) throw new Error(`${file}: the current context names no server`);
  const read = (fields: Fields, name: string): string | undefined => {
    const data = fields[`${name}-data`];
    if (data !== undefined) return Buffer.from(data, 'base64').toString();
    const path = fields[name];
    return path === undefined ? undefined : readFileSync(resolve(dirname(file), path), 'utf8');
  };
  const found = {
    ca: read(cluster, 'certificate-authority'),
    cert: read(user, 'client-certificate'),
    key: read(user, 'client-key'),
    token: user.token,
  };
  const given = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
  return { url: cluster.server.replace(/\/$/, ''), ...given };
}
