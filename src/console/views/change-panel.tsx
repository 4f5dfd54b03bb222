import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  type Explanation,
  type ExplanationLink,
  explain,
  getRevision,
  idOf,
  type Revision,
} from '../api/history-requests.ts';
import { colourOf } from '../model/blame-colours.ts';
import { counted } from '../model/text.ts';
import { useAsked } from '../state/asked.ts';
import { shownSince } from '../state/density.ts';
import { change, hrefOfObject } from '../state/place.ts';
import { ChangeLines, ObjectLink, VerbMark } from './change-lines.tsx';
import { Icon } from './icons.tsx';
import { Loading, Trouble } from './notice.tsx';
import { RestoreDialog } from './restore-dialog.tsx';
import { Author, Moment, shortAuthor, Text } from './text.tsx';
import { AUTHOR_COLOURS } from './yaml-view.tsx';

/** One change, its author and its causes. */
export function ChangePanel({ number, known }: { number: string; known: Revision | undefined }): JSX.Element {
  const asked = useAsked(number, async (signal) => known ?? getRevision(number, signal));
  const close = (): void => change({ rev: '' });
  return (
    <aside class="panel" aria-label="Change">
      <button type="button" class="plain panel-close" aria-label="Close" onClick={close}>
        <Icon name="close" />
      </button>
      {asked.error !== undefined ? (
        <Trouble error={asked.error} retry={asked.again} />
      ) : asked.value === undefined ? (
        <Loading />
      ) : (
        <Details revision={asked.value} />
      )}
    </aside>
  );
}

function Details({ revision }: { revision: Revision }): JSX.Element {
  const { object, verb, at, user = '', manager = '', changes = [], previous, restored = '' } = revision;
  const [isRestoring, setRestoring] = useState(false);
  const { namespace = '', name } = object;
  const number = revision.metadata.name;
  return (
    <>
      <header class="panel-head">
        <VerbMark verb={verb} />
        <h2>
          <ObjectLink object={object} />
        </h2>
      </header>
      <dl class="facts">
        <Fact name="When">
          <Moment at={at} />
        </Fact>
        <Fact name="Who">
          <Author name={user} colour={colourOf(user, AUTHOR_COLOURS)} />
        </Fact>
        <Fact name="With" value={manager} />
        <Fact name="Client" value={revision.userAgent} />
        <Fact name="From" value={revision.sourceAddress} />
        <Fact name="Request" value={revision.requestID} />
        <Fact name="Restored" value={restored} />
        <Fact name="Revision" value={number} />
      </dl>
      <div class="panel-actions">
        <a class="button" href={hrefOfObject(idOf(object), namespace, name, { tab: 'diff', to: number })}>
          Compare
        </a>
        <button type="button" onClick={() => change({ at: new Date(shownSince(at)).toISOString() })}>
          See the cluster then
        </button>
        {previous !== undefined && (
          <button type="button" onClick={() => setRestoring(true)}>
            Undo…
          </button>
        )}
      </div>
      <section>
        <h3>What changed</h3>
        {revision.changesUnknown === true ? (
          <p class="faint">The state before it is no longer kept.</p>
        ) : (
          <ChangeLines changes={changes} />
        )}
        {revision.changesTruncated === true && <p class="faint">There are more changes than these.</p>}
      </section>
      <Why number={number} />
      {isRestoring && previous !== undefined && (
        <RestoreDialog object={object} to={previous} close={() => setRestoring(false)} />
      )}
    </>
  );
}

function Fact({
  name,
  value,
  children,
}: {
  name: string;
  value?: string | undefined;
  children?: JSX.Element;
}): JSX.Element | null {
  if (children === undefined && (value === undefined || value === '')) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children ?? <Text of={(value ?? '').slice(0, 500)} />}</dd>
    </div>
  );
}

/** The changes that led to this one, back to the first. */
function Why({ number }: { number: string }): JSX.Element | null {
  const asked = useAsked(number, (signal) => explain(number, signal));
  if (asked.error !== undefined)
    return (
      <section>
        <h3>Why</h3>
        <p class="faint">
          The causes cannot be shown: {asked.error instanceof Error ? asked.error.message : ''}
        </p>
      </section>
    );
  return (
    <section class="why">
      <h3>Why</h3>
      {asked.value === undefined ? <Loading lines={3} /> : <Chain {...asked.value} />}
    </section>
  );
}

function Chain({ links = [], unknown, siblings = [] }: Explanation): JSX.Element {
  return (
    <>
      <ol class="chain">
        {links.map((link, index) => (
          <Link key={link.revision} link={link} isFirst={index === 0} />
        ))}
      </ol>
      <p class="chain-end">
        {unknown !== undefined && unknown !== '' ? (
          <Text of={unknown} />
        ) : links.length > 1 ? (
          'It began with this.'
        ) : (
          'This change was made directly: no other change led to it.'
        )}
      </p>
      {siblings.length > 0 && <Siblings siblings={siblings} />}
    </>
  );
}

/** Other writes of the same act: one file often has many objects. */
function Siblings({ siblings }: { siblings: readonly ExplanationLink[] }): JSX.Element {
  return (
    <section class="siblings" aria-label="Written along with it">
      <h4>Written along with it</h4>
      <ul>
        {siblings.map(({ revision, object, verb = '', at, evidence = [], confidence }) => (
          <li key={revision} title={evidence.join('; ')}>
            <VerbMark verb={verb} />
            <span class="sibling-what">{object !== undefined && <ObjectLink object={object} />}</span>
            {confidence !== undefined && (
              <span class={`confidence confidence-${confidence}`}>{confidence}</span>
            )}
            <button
              type="button"
              class="link"
              aria-label={`Show the change of ${object?.name ?? revision}`}
              onClick={() => change({ rev: revision })}
            >
              <Moment at={at} />
            </button>
          </li>
        ))}
      </ul>
      <p class="faint">
        <Text of={[...new Set(siblings.flatMap(({ evidence = [] }) => evidence))].slice(0, 3).join(' ')} />
      </p>
    </section>
  );
}

function Link({ link, isFirst }: { link: ExplanationLink; isFirst: boolean }): JSX.Element {
  const { revision, object, verb = '', user = '', at, changes = [], evidence = [], confidence } = link;
  return (
    <li>
      {!isFirst && (
        <p class="evidence">
          {confidence !== undefined && (
            <span class={`confidence confidence-${confidence}`}>{confidence}</span>
          )}
          <Text of={evidence.join('; ')} />
        </p>
      )}
      <div class="chain-link">
        <VerbMark verb={verb} />
        <div>
          {object !== undefined && <ObjectLink object={object} />}
          <p>
            <Author name={shortAuthor(user)} colour={colourOf(user, AUTHOR_COLOURS)} /> <Moment at={at} />
            {!isFirst && (
              <button type="button" class="link" onClick={() => change({ rev: revision })}>
                {changes.length === 0 ? 'show' : counted(changes.length, 'change')}
              </button>
            )}
          </p>
        </div>
      </div>
    </li>
  );
}
