import { expect } from 'vitest';
import type { Cluster } from '../../kit/cluster.ts';
import type { HostileRequest } from '../../kit/hostile-request.ts';

/** What tables of requests are written with. */
export const CORE = '/api/v1/namespaces/default';

export const many = <T>(count: number, item: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => item(at));

export const send = (
  name: string,
  [method, path]: readonly [string, string],
  codes: readonly number[],
  object: () => object | string,
): HostileRequest => ({
  name,
  method,
  path,
  codes,
  body: () => {
    const body = object();
    return typeof body === 'string' ? body : JSON.stringify(body);
  },
});

export const dryRun = (
  name: string,
  path: string,
  code: number,
  object: () => object | string,
): HostileRequest => send(name, ['POST', `${path}?dryRun=All`], [code], object);

export const put = (cluster: Cluster, path: string, object: object): Promise<void> =>
  expectCode(cluster.request('POST', path, object), [201, 409]);

export async function expectCode(
  answer: ReturnType<Cluster['request']>,
  codes: readonly number[],
): Promise<void> {
  const { code, text } = await answer;
  expect(codes, text).toContain(code);
}
