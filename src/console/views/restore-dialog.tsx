import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type RecordedObject, type RestoreResult, type RestoreSpec, restore } from '../api/history.ts';
import { clockOf } from '../model/moments.ts';
import { counted, inOneLine } from '../model/text.ts';
import { useAsked } from '../state/asked.ts';
import { now } from '../state/clock.ts';
import { change } from '../state/place.ts';
import { ChangeLines, ObjectLink } from './change-lines.tsx';
import { Dialog } from './help.tsx';
import { Empty, Loading, Trouble } from './notice.tsx';
import { Text } from './text.tsx';

interface RestoreDialogProps {
  readonly object: RecordedObject;
  /** The revision or moment whose state is wanted. */
  readonly to: string;
  close(): void;
}

/** Shows what a restore would do before it is done. */
export function RestoreDialog({ object, to, close }: RestoreDialogProps): JSX.Element {
  const { group = '', resource, namespace = '', name } = object;
  const [withDependents, setWithDependents] = useState(false);
  const [done, setDone] = useState<readonly RestoreResult[] | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const isNamespace = group === '' && resource === 'namespaces';
  const spec: RestoreSpec =
    isNamespace && withDependents
      ? { namespace: name, to }
      : { object: { group, resource, namespace, name }, to, ...(withDependents ? { withDependents } : {}) };
  const planned = useAsked(`${withDependents}`, () => restore(spec, { dryRun: true }));
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      setDone(await restore(spec, { dryRun: false }));
      // What was restored is of now.
      change({ at: '' });
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  const results = done ?? planned.value;
  const isIdle = results?.every(({ action }) => action === 'unchanged') === true;
  return (
    <Dialog title={done === undefined ? 'Restore' : 'Restored'} close={close} class="restore">
      <p>
        <ObjectLink object={object} /> {done === undefined ? 'becomes what it was' : 'is what it was'} at{' '}
        <b>{momentInWords(to)}</b>.
      </p>
      {done === undefined && (
        <label class="check">
          <input
            type="checkbox"
            checked={withDependents}
            onChange={() => setWithDependents(!withDependents)}
          />
          {isNamespace ? 'And everything that was in it' : 'And what it owned then'}
        </label>
      )}
      {error !== undefined ? (
        <Trouble error={error} />
      ) : planned.error !== undefined && done === undefined ? (
        <Trouble error={planned.error} retry={planned.again} />
      ) : results === undefined ? (
        <Loading lines={4} label="Trying it" />
      ) : isIdle && done === undefined ? (
        <Empty title="Nothing to do">It is what it was then.</Empty>
      ) : (
        <Results results={results} isDone={done !== undefined} />
      )}
      <footer>
        {done === undefined && <span class="faint">Nothing is written until you restore.</span>}
        <button type="button" onClick={close}>
          {done === undefined ? 'Cancel' : 'Close'}
        </button>
        {done === undefined && (
          <button
            type="button"
            class="primary"
            disabled={isBusy || planned.isReading || planned.error !== undefined || isIdle}
            onClick={() => void run()}
          >
            {isBusy ? 'Restoring…' : 'Restore'}
          </button>
        )}
      </footer>
    </Dialog>
  );
}

const momentInWords = (to: string): string =>
  /^\d+$/.test(to)
    ? `revision ${to}`
    : Number.isNaN(Date.parse(to))
      ? inOneLine(to, 40)
      : clockOf(Date.parse(to), now.value);

/** In a dry run, what would be done. */
function Results({ results, isDone }: { results: readonly RestoreResult[]; isDone: boolean }): JSX.Element {
  const shown = results.filter(({ action }) => action !== 'unchanged');
  const rest = results.length - shown.length;
  return (
    <div class="restore-results">
      {shown.map(({ object, action, changes = [], message = '' }) => (
        <section key={`${object.resource} ${object.namespace ?? ''} ${object.name}`}>
          <h3>
            <span class={`badge badge-${action}`}>{isDone ? action : (PLANNED[action] ?? action)}</span>
            <ObjectLink object={object} />
          </h3>
          {message !== '' && (
            <p class="wrong">
              <Text of={message.slice(0, 1000)} />
            </p>
          )}
          <ChangeLines changes={changes} limit={60} />
        </section>
      ))}
      {rest > 0 && <p class="faint">{counted(rest, 'object')} as they are.</p>}
    </div>
  );
}

const PLANNED: Readonly<Record<string, string>> = {
  created: 'create',
  updated: 'update',
  deleted: 'delete',
  failed: 'would fail',
  skipped: 'skip',
};
