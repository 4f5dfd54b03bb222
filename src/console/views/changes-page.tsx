import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Revision } from '../api/history-requests.ts';
import { inOneLine } from '../model/text.ts';
import { kinds } from '../state/catalog.ts';
import { type FeedState, noteMoments } from '../state/change-feed.ts';
import { asOf, change, params } from '../state/place.ts';
import { ChangeFeed } from './change-feed.tsx';
import { NamespaceField } from './namespace-field.tsx';
import { SearchField } from './search-field.tsx';
import { shortAuthor } from './text.tsx';

const VERBS = [
  ['', 'All'],
  ['create', 'Created'],
  ['update', 'Updated'],
  ['delete', 'Deleted'],
] as const;

/** All changes that the user may see, as they happen. */
export function ChangesPage(): JSX.Element {
  const [authors, setAuthors] = useState<readonly string[]>([]);
  const [feed, setFeed] = useState<FeedState | undefined>(undefined);
  const { verb = '', who = '', kind = '' } = params.value;
  const note = (revisions: readonly Revision[], state: FeedState): void => {
    setFeed(state);
    noteMoments(revisions);
    setAuthors((before) => {
      const all = new Set([...before, ...revisions.map(({ user = '' }) => user)]);
      return all.size === before.length ? before : [...all].filter((name) => name !== '').sort();
    });
  };
  return (
    <section class="page changes-page">
      <header class="page-head">
        <div class="page-title">
          <h1>Changes</h1>
          {asOf.value === undefined && feed?.watch.value === 'live' && (
            <span class="watch-mark watch-live">live</span>
          )}
          {feed?.watch.value === 'resuming' && <span class="watch-mark watch-resuming">reconnecting…</span>}
        </div>
        <SearchField label="Filter changes" />
      </header>
      <div class="filters">
        <span class="filter-namespace">
          <NamespaceField />
        </span>
        <select
          aria-label="Kind"
          value={kind}
          onChange={({ currentTarget }) => change({ kind: currentTarget.value })}
        >
          <option value="">Every kind</option>
          {kinds.value.map(({ id, kind: name, group }) => (
            <option key={id} value={id}>
              {inOneLine(group.includes('.') && !group.endsWith('.k8s.io') ? `${name} (${group})` : name, 60)}
            </option>
          ))}
        </select>
        <select
          aria-label="Who"
          value={who}
          onChange={({ currentTarget }) => change({ who: currentTarget.value })}
        >
          <option value="">Everybody</option>
          {(who === '' || authors.includes(who) ? authors : [who, ...authors]).map((name) => (
            <option key={name} value={name}>
              {inOneLine(shortAuthor(name), 60)}
            </option>
          ))}
        </select>
        <fieldset class="segments">
          <legend>Verb</legend>
          {VERBS.map(([one, title]) => (
            <button key={one} type="button" aria-pressed={verb === one} onClick={() => change({ verb: one })}>
              {title}
            </button>
          ))}
        </fieldset>
      </div>
      <ChangeFeed onRevisions={note} />
    </section>
  );
}
