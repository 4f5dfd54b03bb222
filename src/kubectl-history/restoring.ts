import type { CommandArguments } from './arguments.ts';
import type { HistoryClient } from './history-client.ts';
import type { RestoreResult, RestoreSpec } from './history-types.ts';
import { toShortName } from './named-object.ts';
import { isDocument, toDocument } from './output-format.ts';
import type { Screen } from './screen.ts';
import type { Session } from './session.ts';
import { toChanges } from './shown-changes.ts';
import { toShown } from './shown-text.ts';
import { CommandError, UsageError } from './usage-error.ts';

/** Parts shared by undo and restore: they show the changes, ask, and write. */
interface Restoring {
  readonly session: Session;
  readonly history: HistoryClient;
  readonly args: CommandArguments;
  readonly format: string | undefined;
  readonly spec: RestoreSpec;
  /** A description of the action. */
  readonly title: string;
}

/** Returns the exit code. @throws UsageError, CommandError */
export async function restore({ session, history, args, format, spec, title }: Restoring): Promise<number> {
  const { screen } = session;
  const isDryRun = args.has('dryRun');
  const planned = (await history.restore(spec, { isDryRun: true })).status?.results ?? [];
  if (isDryRun) {
    await print(screen, format, planned, { isDone: false, title });
    return exitCodeOf(planned);
  }
  if (planned.every(({ action }) => action === 'unchanged' || action === 'skipped')) {
    await print(screen, format, planned, { isDone: true, title });
    return 0;
  }
  const wasShown = await confirm(session, args, planned, title);
  const done = (await history.restore(spec, { isDryRun: false })).status?.results ?? [];
  // The confirmation has already shown the changes.
  const shown = wasShown ? done.map((result) => ({ ...result, changes: [] })) : done;
  await print(screen, format, isDocument(format) ? done : shown, { isDone: true, title: undefined });
  return exitCodeOf(done);
}

const exitCodeOf = (results: readonly RestoreResult[]): number =>
  results.some(({ action }) => action === 'failed') ? 1 : 0;

/** Returns whether the changes were shown. */
async function confirm(
  { ask, screen }: Session,
  args: CommandArguments,
  planned: readonly RestoreResult[],
  title: string,
): Promise<boolean> {
  if (args.has('yes')) return false;
  if (ask === undefined) {
    const gone = planned.find(({ action }) => action === 'deleted');
    if (gone === undefined) return false;
    throw new UsageError(
      `${toShown(toShortName(gone.object ?? {}))} was not there then and would be deleted; say --yes if that is meant`,
    );
  }
  screen.note(`${toShown(title)}\n${toResults(planned, screen, false)}`);
  const answer = await ask('Do it? [y/N] ');
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('nothing was changed');
  return true;
}

interface Printed {
  readonly isDone: boolean;
  readonly title: string | undefined;
}

async function print(
  screen: Screen,
  format: string | undefined,
  results: readonly RestoreResult[],
  { isDone, title }: Printed,
): Promise<void> {
  if (isDocument(format)) {
    const list = { apiVersion: 'history.cluster.io/v1alpha1', kind: 'Restore', status: { results } };
    return screen.write(toDocument(format, list, screen));
  }
  if (format === 'name') {
    return screen.write(results.map(({ object = {} }) => `${toShown(toShortName(object))}\n`).join(''));
  }
  const head = title === undefined ? '' : `${toShown(title)}\n`;
  if (results.length === 0) return screen.write(`${head}There is nothing to restore.\n`);
  await screen.write(`${head}${toResults(results, screen, isDone)}`);
}

const STYLES = {
  created: 'green',
  updated: 'yellow',
  deleted: 'red',
  failed: 'red',
} as const;

const styleOf = (action: string) => Object.entries(STYLES).find(([name]) => name === action)?.[1] ?? 'dim';

/** One line per object, with its changes below, and totals. */
function toResults(results: readonly RestoreResult[], screen: Screen, isDone: boolean): string {
  const lines = results.map((result) => toResult(result, screen, isDone));
  if (results.length === 1) return lines.join('');
  const counts = new Map<string, number>();
  for (const { action = '' } of results) counts.set(action, (counts.get(action) ?? 0) + 1);
  const sum = [...counts].map(([action, count]) => `${count} ${toShown(action)}`).join(', ');
  return `${lines.join('')}${sum}${isDone ? '' : ' (dry run)'}\n`;
}

function toResult(result: RestoreResult, screen: Screen, isDone: boolean): string {
  const { object = {}, action = '', revision, message } = result;
  const where = object.namespace ? ` in ${object.namespace}` : '';
  const isChange = action === 'created' || action === 'updated' || action === 'deleted';
  const verb = screen.paint(styleOf(action), toShown(isChange && !isDone ? `would be ${action}` : action));
  const as = isDone && revision ? ` (revision ${revision})` : '';
  const why = message ? `: ${message}` : '';
  const head = `${screen.paint('bold', toShown(toShortName(object)))}${toShown(where)} ${verb}${toShown(`${as}${why}`)}\n`;
  return head + toChanges(result, { paint: screen.paint, indent: 4, width: screen.columns, most: 50 });
}
