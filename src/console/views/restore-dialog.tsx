import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  type Change,
  type RecordedObject,
  type RestoreResult,
  type RestoreSpec,
  restore,
} from '../api/history-requests.ts';
import { canBePutBack, touchedBy } from '../model/changed-paths.ts';
import { clockOf } from '../model/moments.ts';
import { counted, inOneLine } from '../model/text.ts';
import { type Asked, useAsked } from '../state/asked.ts';
import { now } from '../state/page-clock.ts';
import { change } from '../state/place.ts';
import { ChangeLines, ObjectLink } from './change-lines.tsx';
import { Dialog } from './help.tsx';
import { Empty, Loading, Trouble } from './notice.tsx';
import { Text } from './text.tsx';

export interface RestoreWish {
  /** The revision or time to restore. */
  readonly to: string;
  /** The fields to restore. Undefined: all. */
  readonly paths?: readonly string[];
}

interface RestoreDialogProps extends RestoreWish {
  readonly object: RecordedObject;
  close(): void;
}

/** The limit of a Restore (src/history/restore). */
const MOST_PATHS = 1000;

type Results = readonly RestoreResult[];

/** Shows the effect of a restore before it is done. */
export function RestoreDialog({ object, to, paths, close }: RestoreDialogProps): JSX.Element {
  const [withDependents, setWithDependents] = useState(false);
  const [isOfFields, setOfFields] = useState(paths !== undefined);
  const [picked, setPicked] = useState<ReadonlySet<string> | undefined>(undefined);
  const [done, setDone] = useState<Results | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);

  const wholeSpec = specOf(object, to, withDependents);
  const whole = usePlan(wholeSpec, true);
  const changes = fieldsOf(whole.value);
  const chosen = picked ?? firstChosen(changes, paths, whole.error !== undefined);
  const fieldSpec: RestoreSpec = { ...specOf(object, to, false), paths: [...chosen].sort() };
  const ofFields = usePlan(fieldSpec, isOfFields && chosen.size > 0);
  const plan = isOfFields ? ofFields : whole;

  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      setDone(await restore(isOfFields ? fieldSpec : wholeSpec, { dryRun: false }));
      // The result is in the present.
      change({ at: '' });
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  const isIdle = isOfFields && chosen.size === 0 ? true : plan.value?.every(isUnchanged) === true;
  const isDone = done !== undefined;
  return (
    <Dialog title={isDone ? 'Restored' : 'Restore'} close={close} class="restore">
      <p>
        {isOfFields && (isDone ? 'What was chosen of ' : 'What you choose of ')}
        <ObjectLink object={object} /> {isDone ? 'is what it was' : 'becomes what it was'} at{' '}
        <b>{momentInWords(to)}</b>.
      </p>
      {!isDone && (
        <div class="restore-choices">
          <Extent
            isOfFields={isOfFields}
            canChoose={changes.length > 0 || paths !== undefined}
            choose={(ofThem) => {
              setOfFields(ofThem);
              if (ofThem) setWithDependents(false);
            }}
          />
          {!isOfFields && (
            <label class="check">
              <input
                type="checkbox"
                checked={withDependents}
                onChange={() => setWithDependents(!withDependents)}
              />
              {isNamespace(object) ? 'And everything that was in it' : 'And what it owned then'}
            </label>
          )}
        </div>
      )}
      {error !== undefined ? (
        <Trouble error={error} />
      ) : isDone ? (
        <ResultList results={done} isDone />
      ) : isOfFields && changes.length > 0 ? (
        <>
          <FieldChoice changes={changes} chosen={chosen} choose={setPicked} />
          <PlanProblems plan={ofFields} />
        </>
      ) : (
        <Plan plan={plan} />
      )}
      <Footer
        count={isOfFields ? chosen.size : 0}
        isReady={!isBusy && !isIdle && !plan.isReading && plan.error === undefined}
        {...{ isDone, isBusy, close, run }}
      />
    </Dialog>
  );
}

interface FooterProps {
  /** The number of selected fields; 0: the whole object. */
  readonly count: number;
  readonly isReady: boolean;
  readonly isDone: boolean;
  readonly isBusy: boolean;
  close(): void;
  run(): Promise<void>;
}

function Footer({ count, isReady, isDone, isBusy, close, run }: FooterProps): JSX.Element {
  if (isDone)
    return (
      <footer>
        <button type="button" onClick={close}>
          Close
        </button>
      </footer>
    );
  const what = count > 0 ? `Restore ${counted(count, 'field')}` : 'Restore';
  return (
    <footer>
      <span class="faint">Nothing is written until you restore.</span>
      <button type="button" onClick={close}>
        Cancel
      </button>
      <button type="button" class="primary" disabled={!isReady} onClick={() => void run()}>
        {isBusy ? 'Restoring…' : what}
      </button>
    </footer>
  );
}

/** The planned changes. */
function Plan({ plan }: { plan: Asked<Results> }): JSX.Element {
  if (plan.error !== undefined) return <Trouble error={plan.error} retry={plan.again} />;
  if (plan.value === undefined) return <Loading lines={4} label="Trying it" />;
  if (plan.value.every(isUnchanged)) return <Empty title="Nothing to do">It is what it was then.</Empty>;
  return <ResultList results={plan.value} isDone={false} />;
}

const isNamespace = ({ group = '', resource }: RecordedObject): boolean =>
  group === '' && resource === 'namespaces';

type ObjectSpec = Extract<RestoreSpec, { object: unknown }>;

function specOf(object: RecordedObject, to: string, withDependents: false): ObjectSpec;
function specOf(object: RecordedObject, to: string, withDependents: boolean): RestoreSpec;
function specOf(object: RecordedObject, to: string, withDependents: boolean): RestoreSpec {
  const { group = '', resource, namespace = '', name } = object;
  if (isNamespace(object) && withDependents) return { namespace: name, to };
  return { object: { group, resource, namespace, name }, to, ...(withDependents ? { withDependents } : {}) };
}

/** A dry run of the restore. Without retries: any refusal is shown. */
function usePlan(spec: RestoreSpec, isWanted: boolean): Asked<Results> {
  const key = isWanted ? JSON.stringify(spec) : '';
  return useAsked(key, async (signal) => (key === '' ? [] : restore(spec, { dryRun: true, signal })), {
    persists: false,
  });
}

const isUnchanged = ({ action }: RestoreResult): boolean => action === 'unchanged';

/** The fields to select from: those of one live object. */
function fieldsOf(results: Results = []): readonly Change[] {
  const [only] = results;
  if (results.length !== 1 || only?.action !== 'updated') return [];
  return (only.changes ?? []).filter(({ path }) => canBePutBack(path)).slice(0, MOST_PATHS);
}

/** The previous selection, limited to selectable fields where these are known. */
function firstChosen(
  changes: readonly Change[],
  paths: readonly string[] = [],
  isUnknown: boolean,
): ReadonlySet<string> {
  const all = changes.map(({ path }) => path);
  return new Set(isUnknown ? paths : touchedBy(all, paths));
}

interface ExtentProps {
  readonly isOfFields: boolean;
  readonly canChoose: boolean;
  choose(isOfFields: boolean): void;
}

function Extent({ isOfFields, canChoose, choose }: ExtentProps): JSX.Element {
  return (
    <fieldset class="segments">
      <legend>What to put back</legend>
      <button type="button" aria-pressed={!isOfFields} onClick={() => choose(false)}>
        All of it
      </button>
      <button
        type="button"
        aria-pressed={isOfFields}
        disabled={!isOfFields && !canChoose}
        onClick={() => choose(true)}
      >
        Some fields
      </button>
    </fieldset>
  );
}

interface FieldChoiceProps {
  readonly changes: readonly Change[];
  readonly chosen: ReadonlySet<string>;
  choose(chosen: ReadonlySet<string>): void;
}

/** The differences by field, each with a box to restore it. */
function FieldChoice({ changes, chosen, choose }: FieldChoiceProps): JSX.Element {
  const isAll = chosen.size === changes.length;
  const toggle = (path: string): void => {
    const next = new Set(chosen);
    if (!next.delete(path)) next.add(path);
    choose(next);
  };
  return (
    <div class="field-choice">
      <label class="check">
        <input
          type="checkbox"
          checked={isAll}
          ref={(box) => {
            if (box !== null) box.indeterminate = !isAll && chosen.size > 0;
          }}
          onChange={() => choose(new Set(isAll ? [] : changes.map(({ path }) => path)))}
        />
        {`${chosen.size.toLocaleString('en')} of ${counted(changes.length, 'field')}`}
      </label>
      <ChangeLines
        changes={changes}
        limit={MOST_PATHS}
        isChosen={(path) => chosen.has(path)}
        toggle={toggle}
      />
    </div>
  );
}

/** Why the selection cannot be restored, or only partly. */
function PlanProblems({ plan }: { plan: Asked<Results> }): JSX.Element | null {
  const messages = (plan.value ?? []).flatMap(({ message = '' }) => (message === '' ? [] : [message]));
  const problems = plan.error instanceof Error ? [plan.error.message] : messages;
  if (problems.length === 0) return null;
  return (
    <p class="wrong" role="alert">
      <Text of={problems.join('; ').slice(0, 1000)} />
    </p>
  );
}

const momentInWords = (to: string): string =>
  /^\d+$/.test(to)
    ? `revision ${to}`
    : Number.isNaN(Date.parse(to))
      ? inOneLine(to, 40)
      : clockOf(Date.parse(to), now.value);

/** For a dry run, the planned results. */
function ResultList({ results, isDone }: { results: Results; isDone: boolean }): JSX.Element {
  const shown = results.filter((result) => !isUnchanged(result));
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
            <p class={action === 'failed' ? 'wrong' : 'faint'}>
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
