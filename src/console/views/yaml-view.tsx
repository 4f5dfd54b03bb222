import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { getBlame, getRevision, referenceOf } from '../api/history-requests.ts';
import type { Kind } from '../api/load-kinds.ts';
import type { ApiObject, Json } from '../model/api-object.ts';
import { type Blame, type BlameField, colourOf, createBlame, recencyOf } from '../model/blame-colours.ts';
import { canBePutBack } from '../model/changed-paths.ts';
import { readable } from '../model/readable.ts';
import { shortened } from '../model/text.ts';
import { type Line, type Token, toLines, toYaml } from '../model/yaml.ts';
import { useAsked } from '../state/asked.ts';
import { hasHistory } from '../state/catalog.ts';
import { asOf, change, params } from '../state/place.ts';
import { Icon } from './icons.tsx';
import type { RestoreWish } from './restore-dialog.tsx';
import { Rows } from './rows.tsx';
import { Author, Moment, shortAuthor, Text } from './text.tsx';

const LINE_HEIGHT = 21;
/** Longer lines are truncated; the copied text has them whole. */
const LONGEST_LINE = 1000;
export const AUTHOR_COLOURS = 8;
const AGES = 6;

interface YamlViewProps {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly object: ApiObject;
  restore(wish: RestoreWish): void;
}

type BlameBy = 'author' | 'age';

/** The object as YAML; with blame, the author and time of each line. */
export function YamlView({ kind, namespace, name, object, restore }: YamlViewProps): JSX.Element {
  const isManaged = params.value.managed === '1';
  const by = chosenBlame();
  const { resourceVersion } = object.metadata;
  const blamed = useAsked(`${by !== undefined} ${asOf.value} ${resourceVersion}`, async (signal) =>
    by === undefined
      ? undefined
      : createBlameOf(await getBlame(referenceOf(kind.id, namespace, name), asOf.value, signal)),
  );
  const blame = by === undefined ? undefined : blamed.value;
  const shown = useMemo(
    () => readable(asJson(object), { managedFields: isManaged, resourceVersion: isManaged }),
    [object, isManaged],
  );
  const lines = useMemo(() => toLines(shown, blame?.blame.nameElement), [shown, blame]);
  const fields = useMemo(() => (blame === undefined ? undefined : fieldsOf(lines, blame)), [lines, blame]);
  const digits = String(lines.length).length;
  const [refusal, setRefusal] = useState('');
  const undo = (revision: string): void => {
    setRefusal('');
    readUndo(revision).then(restore, (error: unknown) => setRefusal(messageOf(error)));
  };
  return (
    <div class={`code-view ${blame === undefined ? '' : 'with-blame'}`}>
      <div class="code-tools">
        {hasHistory.value && <BlameChoice by={by} isReading={by !== undefined && blamed.isReading} />}
        {by !== undefined && blamed.error !== undefined && (
          <span class="wrong">Blame cannot be had: {messageOf(blamed.error)}</span>
        )}
        {refusal !== '' && (
          <span class="wrong" role="alert">
            <Text of={refusal.slice(0, 300)} />
          </span>
        )}
        <label class="check">
          <input
            type="checkbox"
            checked={isManaged}
            onChange={() => change({ managed: isManaged ? '' : '1' }, { replace: true })}
          />
          Managed fields
        </label>
        <CopyButton text={() => toYaml(shown)} />
      </div>
      <Rows
        class="code"
        label="YAML"
        items={lines}
        rowHeight={LINE_HEIGHT}
        columns={blame === undefined ? 2 : 3}
        keyOf={(_, index) => String(index)}
        row={(line, index) => (
          <>
            {fields !== undefined && by !== undefined && (
              <BlameCell
                field={fields[index]}
                before={fields[index - 1]}
                by={by}
                recency={(at) => blame?.recency(at) ?? 0}
                undo={undo}
              />
            )}
            <td class="line-number" style={{ width: `${digits + 3}ch` }}>
              {index + 1}
            </td>
            <td class="line">
              <LineText line={line} />
            </td>
          </>
        )}
      />
    </div>
  );
}

/** Undefined: none, or the server has no history. */
function chosenBlame(): BlameBy | undefined {
  const { blame } = params.value;
  return hasHistory.value && (blame === 'author' || blame === 'age') ? blame : undefined;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

interface BlameOf {
  readonly blame: Blame;
  /** 0 for the oldest field, 1 for the newest. */
  recency(at: string): number;
}

function createBlameOf(fields: readonly BlameField[]): BlameOf {
  return { blame: createBlame(fields), recency: recencyOf(fields.flatMap(({ at }) => at ?? [])) };
}

const asJson = (object: ApiObject): Json => object as unknown as Json;

function BlameChoice({ by, isReading }: { by: BlameBy | undefined; isReading: boolean }): JSX.Element {
  const choices = [
    [undefined, 'Off'],
    ['author', 'By author'],
    ['age', 'By age'],
  ] as const;
  return (
    <div class="labelled">
      <span aria-hidden="true">Blame</span>
      <fieldset class="segments" aria-busy={isReading}>
        <legend>Blame</legend>
        {choices.map(([value, title]) => (
          <button
            key={title}
            type="button"
            aria-pressed={by === value}
            onClick={() => change({ blame: value ?? '' }, { replace: true })}
          >
            {title}
          </button>
        ))}
      </fieldset>
    </div>
  );
}

interface BlameCellProps {
  readonly field: BlameField | undefined;
  readonly before: BlameField | undefined;
  readonly by: BlameBy;
  recency(at: string): number;
  undo(revision: string): void;
}

/** The first line of a run by one revision names it; the others have only its colour. */
function BlameCell({ field, before, by, recency, undo }: BlameCellProps): JSX.Element {
  if (field?.revision === undefined) return <td class="blame blame-none" />;
  const { revision, at = '', user = '', manager = '' } = field;
  const isFirst = before?.revision !== revision;
  const colour = colourOf(user, AUTHOR_COLOURS);
  const own = by === 'author' ? `author-${colour}` : `age-${Math.round(recency(at) * (AGES - 1))}`;
  return (
    <td
      class={`blame ${own} ${isFirst ? 'blame-first' : ''}`}
      title={`${user} (${manager}), revision ${revision}`}
    >
      {isFirst && (
        <div class="blame-line">
          <button type="button" onClick={() => change({ tab: 'diff', to: revision, from: '' })}>
            <Author name={shortAuthor(user)} colour={colour} />
            <Moment at={at} />
          </button>
          <button
            type="button"
            class="blame-undo"
            aria-label={`Put back what ${shortAuthor(user)} changed in revision ${revision}`}
            title="Put back what this changed…"
            onClick={() => undo(revision)}
          >
            <Icon name="restore" />
          </button>
        </div>
      )}
    </td>
  );
}

/** The restore that reverts the changes of a revision. @throws Error in words, where no revision precedes it */
async function readUndo(revision: string): Promise<RestoreWish> {
  const { previous, changes = [] } = await getRevision(revision);
  if (previous === undefined) throw new Error('The object was made with this: there is nothing before it.');
  return { to: previous, paths: changes.map(({ path }) => path).filter(canBePutBack) };
}

/** A line that only contains others takes the author of its first one. */
function fieldsOf(lines: readonly Line[], { blame }: BlameOf): readonly (BlameField | undefined)[] {
  let next: BlameField | undefined;
  return lines
    .toReversed()
    .map(({ path }) => {
      if (path !== undefined) next = blame.fieldAt(path);
      return next;
    })
    .toReversed();
}

function LineText({ line: { tokens } }: { line: Line }): JSX.Element {
  return (
    <>
      {tokens.map((token, index) => (
        <TokenText key={index} token={token} />
      ))}
    </>
  );
}

function TokenText({ token: { kind, text } }: { token: Token }): JSX.Element {
  const rest = text.length - LONGEST_LINE;
  return (
    <span class={`token-${kind}`}>
      <Text of={shortened(text, LONGEST_LINE)} />
      {rest > 0 && <span class="more">{rest.toLocaleString('en')} more characters</span>}
    </span>
  );
}

function CopyButton({ text }: { text: () => string }): JSX.Element {
  const [isDone, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text());
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" class="plain" onClick={() => void copy().catch(() => {})}>
      <Icon name="copy" /> {isDone ? 'Copied' : 'Copy'}
    </button>
  );
}
