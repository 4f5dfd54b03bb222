import type { JSX } from 'preact';
import { type Change, idOf, type RecordedObject } from '../api/history-requests.ts';
import type { Json } from '../model/api-object.ts';
import { inOneLine, withoutSharedStart } from '../model/text.ts';
import { kindById } from '../state/catalog.ts';
import { hrefOfObject } from '../state/place.ts';
import { Text } from './text.tsx';

interface ChangeLinesProps {
  readonly changes: readonly Change[];
  readonly limit?: number;
  /** Present where lines can be selected. */
  isChosen?(path: string): boolean;
  toggle?(path: string): void;
}

/** Changes, one field per line: path, old and new value. */
export function ChangeLines({ changes, limit = 200, isChosen, toggle }: ChangeLinesProps): JSX.Element {
  const rest = changes.length - limit;
  return (
    <ul class="change-lines">
      {changes.slice(0, limit).map((one) => (
        <li key={one.path}>
          {isChosen === undefined ? (
            <ChangeLine change={one} />
          ) : (
            <label class={`choice ${isChosen(one.path) ? 'is-chosen' : ''}`}>
              <input type="checkbox" checked={isChosen(one.path)} onChange={() => toggle?.(one.path)} />
              <div>
                <ChangeLine change={one} />
              </div>
            </label>
          )}
        </li>
      ))}
      {rest > 0 && <li class="faint">and {rest.toLocaleString('en')} more</li>}
    </ul>
  );
}

function ChangeLine({ change }: { change: Change }): JSX.Element {
  const { path, old, hidden } = change;
  return (
    <>
      <code class="path">
        <Text of={path === '' ? 'the whole object' : inOneLine(path, 300)} />
      </code>
      {hidden === true ? (
        <span class="faint">changed, and hidden from you</span>
      ) : path === '' ? (
        <span class="faint">{old === undefined ? 'created' : 'deleted'}</span>
      ) : (
        <Values {...change} limit={600} />
      )}
    </>
  );
}

interface ValuesProps extends Pick<Change, 'old' | 'new'> {
  readonly limit: number;
  /** On one line: leaves out the common beginning. */
  readonly isBrief?: boolean;
}

export function Values({ old, new: now, limit, isBrief = false }: ValuesProps): JSX.Element {
  const isShared = isBrief && typeof old === 'string' && typeof now === 'string';
  const [before, after] = isShared ? withoutSharedStart(old, now) : [old, now];
  return (
    <span class="values">
      {before !== undefined && (
        <del>
          <Text of={textOfValue(before, limit)} />
        </del>
      )}
      {after !== undefined && (
        <ins>
          <Text of={textOfValue(after, limit)} />
        </ins>
      )}
    </span>
  );
}

const textOfValue = (value: Json, limit: number): string => {
  const text = inOneLine(value, limit);
  return text === '' ? '""' : text;
};

/** `Deployment web`, as a link where the server serves the kind. */
export function ObjectLink({ object, at }: { object: RecordedObject; at?: string }): JSX.Element {
  const { kind, resource, namespace = '', name } = object;
  const id = idOf(object);
  const isKnown = kindById.value.has(id);
  const text = (
    <>
      <span class="object-kind">
        <Text of={kind ?? resource} />
      </span>{' '}
      <b>
        <Text of={inOneLine(name, 120)} />
      </b>
    </>
  );
  return (
    <span class="object-link">
      {isKnown ? (
        <a href={hrefOfObject(id, namespace, name, at === undefined ? {} : { at })}>{text}</a>
      ) : (
        text
      )}
      {namespace !== '' && (
        <span class="object-namespace">
          <Text of={namespace} />
        </span>
      )}
    </span>
  );
}

export function VerbMark({ verb }: { verb: string }): JSX.Element {
  const sign = verb === 'create' ? '+' : verb === 'delete' ? '−' : '~';
  return (
    <span class={`verb verb-${verb}`} role="img" aria-label={verb}>
      {sign}
    </span>
  );
}
