import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { listRevisions } from '../api/history-requests.ts';
import { pathOf } from '../api/load-kinds.ts';
import type { ListAddress, ObjectAddress } from '../model/address.ts';
import { agoOf, clockOf, MINUTE, parseMoment, SECOND } from '../model/moments.ts';
import { clusterBegin, FIRST_KIND, hasHistory, kindById } from '../state/catalog.ts';
import { noteMoments } from '../state/change-feed.ts';
import { density, momentAfter, momentBefore, moments } from '../state/density.ts';
import { askHowFarBack, historyBegin } from '../state/history-begin.ts';
import { useKeys } from '../state/key-handlers.ts';
import { minute, now, shownAt } from '../state/page-clock.ts';
import { address, asOf, change, namespace } from '../state/place.ts';
import { Icon } from './icons.tsx';

const STEPS = 1000;
const MOST_MOMENTS = 500;
/** The page follows the dragged slider at this pace. */
const FOLLOW_MS = 90;

/** Moves the whole page to a past time, and back to the present. */
export function TimeBar(): JSX.Element {
  const end = now.value;
  const begin = Math.min(historyBegin.value ?? end - 5 * MINUTE, end - SECOND);
  const at = shownAt.value;
  const isPast = asOf.value !== undefined;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [dragged, setDragged] = useState<number | undefined>(undefined);

  const show = (moment: number): void => {
    change(
      { at: moment >= now.value ? '' : new Date(Math.max(moment, begin)).toISOString() },
      { replace: isPast },
    );
  };
  const backToNow = (): void => change({ at: '' });
  const drag = (step: number): void => {
    setDragged(step);
    clearTimeout(timer.current);
    const follow = (): void => (step >= STEPS ? backToNow() : show(begin + ((end - begin) * step) / STEPS));
    timer.current = setTimeout(follow, FOLLOW_MS);
  };
  useHowFarBack();
  const isReading = useMoments();
  useEffect(() => () => clearTimeout(timer.current), []);
  const from = at ?? end;
  const step = (end - begin) / 50;
  useKeys({
    '[': () => show(momentBefore(from) ?? from - step),
    // The present equals the state since the last change.
    ']': () => show(momentAfter(from) ?? (moments.value.length > 0 ? now.value : from + step)),
    n: backToNow,
  });

  const moment = dragged === undefined ? from : begin + ((end - begin) * dragged) / STEPS;
  const place = dragged ?? Math.round(((from - begin) / (end - begin)) * STEPS);
  return (
    <section class={`time-bar ${isPast ? 'is-past' : ''}`} aria-label="Time" aria-busy={isReading}>
      <button type="button" class="now" aria-pressed={!isPast} onClick={backToNow} title="Back to now (n)">
        <span class="now-mark" aria-hidden="true" />
        {isPast ? 'Back to now' : 'Now'}
      </button>
      <span class="time-begin" title="As far back as history is kept">
        {agoOf(end - begin)}
      </span>
      <div class="time-track">
        <Density begin={begin} end={end} />
        <input
          type="range"
          min={0}
          max={STEPS}
          value={Math.max(0, Math.min(STEPS, place))}
          aria-label="Moment that is shown"
          aria-valuetext={isPast ? `${clockOf(moment, end)}, ${agoOf(end - moment)}` : 'now'}
          onInput={({ currentTarget }) => drag(Number(currentTarget.value))}
          onChange={() => setDragged(undefined)}
        />
      </div>
      <MomentField at={moment} isPast={isPast || dragged !== undefined} show={show} />
    </section>
  );
}

/** Asks for the page's own path, which its user may read. */
function useHowFarBack(): void {
  const { value } = address;
  const id = value.page === 'changes' ? 'namespaces' : value.resource;
  const kind = kindById.value.get(id) ?? kindById.value.get(FIRST_KIND);
  const path = kind === undefined ? '' : pathOf(kind, namespace.value);
  useEffect(() => {
    if (path !== '') void askHowFarBack(path);
  }, [path, minute.value, clusterBegin.value]);
}

/** Loads the times of the page's changes. The page of all changes records its own. Returns whether it is loading. */
function useMoments(): boolean {
  const { value } = address;
  const [readFor, setReadFor] = useState('');
  const query = value.page === 'changes' || !hasHistory.value ? '' : JSON.stringify(fieldsOf(value));
  useEffect(() => {
    if (query === '') return;
    const reading = new AbortController();
    listRevisions({ fields: JSON.parse(query) }, { limit: MOST_MOMENTS, signal: reading.signal })
      .then(({ revisions }) => noteMoments(revisions))
      // The slider works without them.
      .catch(() => {})
      .finally(() => {
        if (!reading.signal.aborted) setReadFor(query);
      });
    return () => reading.abort();
  }, [query, minute.value]);
  return query !== '' && readFor !== query;
}

function fieldsOf(page: ListAddress | ObjectAddress): Record<string, string> {
  const resource = { 'object.resource': page.resource === '' ? FIRST_KIND : page.resource };
  return page.page === 'object'
    ? { ...resource, 'object.namespace': page.namespace, 'object.name': page.name }
    : { ...resource, 'object.namespace': namespace.value };
}

/** Changes over time: as many bars as the track has room for. */
function Density({ begin, end }: { begin: number; end: number }): JSX.Element | null {
  const bars = density(begin, end, 120);
  const most = Math.max(...bars);
  if (!(most > 0)) return null;
  return (
    <svg class="density" viewBox="0 0 120 1" preserveAspectRatio="none" aria-hidden="true">
      {bars.map((count, index) => {
        const height = count === 0 ? 0 : 0.15 + 0.85 * Math.sqrt(count / most);
        return <rect key={index} x={index + 0.12} y={1 - height} width={0.76} height={height} />;
      })}
    </svg>
  );
}

interface MomentFieldProps {
  readonly at: number;
  readonly isPast: boolean;
  show(moment: number): void;
}

/** A text field for times, where a slider is too coarse. */
function MomentField({ at, isPast, show }: MomentFieldProps): JSX.Element {
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const parsed = typed === undefined ? undefined : parseMoment(typed, now.value);
  const isWrong = typed !== undefined && typed !== '' && parsed === undefined;
  return (
    <form
      class="moment"
      onSubmit={(event) => {
        event.preventDefault();
        if (parsed === undefined) return;
        show(parsed);
        setTyped(undefined);
      }}
    >
      <Icon name="history" />
      <input
        type="text"
        aria-label="Go to a moment, such as 10 min ago or 09:30"
        aria-invalid={isWrong}
        placeholder="10 min ago, 9:30"
        value={typed ?? (isPast ? clockOf(at, now.value) : '')}
        autocomplete="off"
        onFocus={() => setTyped('')}
        onBlur={() => setTyped(undefined)}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
    </form>
  );
}

/** Shows which past time the page displays. */
export function PastRibbon(): JSX.Element | null {
  const text = asOf.value;
  if (text === undefined) return null;
  const at = shownAt.value;
  return (
    <div class="past-ribbon" role="status">
      <Icon name="history" />
      <span>
        {at === undefined ? (
          <>
            As it was at revision <b>{text.slice(0, 40)}</b>
          </>
        ) : (
          <>
            As it was at <b>{clockOf(at, now.value)}</b>
            <span class="ago">{agoOf(now.value - at)}</span>
          </>
        )}
      </span>
      <button type="button" onClick={() => change({ at: '' })}>
        Back to now
      </button>
    </div>
  );
}
