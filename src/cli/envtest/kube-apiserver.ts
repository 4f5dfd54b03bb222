import { UsageError } from '../../options/flag.ts';
import { NEVER } from '../../util/pause.ts';
import { stopSignal } from '../stop-signal.ts';
import { ensureTemplate } from '../warm-start.ts';
import { readWords, valueIn } from './argument-words.ts';
import { findEtcd } from './etcd-address.ts';
import type { FromSpare, ToSpare } from './spare-channel.ts';
import { connectTo } from './spares.ts';

/**
 * Serves with kube-apiserver's flags, on the database of the stand-in for etcd that --etcd-servers names: in the process that was
 * made ready for it, or else in this one, which then loads the server. @throws UsageError, Error
 */
export async function runKubeApiserver(args: readonly string[]): Promise<void> {
  const words = readWords(args);
  const servers = valueIn(words, 'etcd-servers');
  const { url, spare } = servers === undefined ? { url: '' } : findEtcd(servers);
  if (spare !== undefined && (await servesIn(spare, args))) return;
  const { serveSuite } = await import('./suite-server.ts');
  await serveSuite(words, { url, template: await ensureTemplate(() => {}, NEVER) });
}

/** False: it cannot serve now. @throws UsageError, Error */
async function servesIn(spare: string, args: readonly string[]): Promise<boolean> {
  let last: FromSpare | undefined;
  const channel = await connectTo<ToSpare, FromSpare>(spare, (message) => {
    if (message.say === 'wrote') process[message.stream].write(message.text);
    else last = message;
    if (message.say !== 'wrote') channel?.close();
  });
  if (channel === undefined) return false;
  const environment = Object.fromEntries(
    Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  channel.send({ say: 'serve', args, folder: process.cwd(), environment });
  stopSignal({ exitsWithParent: true }).addEventListener('abort', () => channel.send({ say: 'stop' }));
  await channel.ended();
  if (last?.say === 'busy') return false;
  if (last?.say === 'ended') return true;
  if (last?.say === 'failed') throw last.isUsage ? new UsageError(last.reason) : new Error(last.reason);
  throw new Error('the process that served for this one has ended: start the suite again');
}
