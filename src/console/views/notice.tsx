import type { ComponentChildren, JSX } from 'preact';
import { SECOND } from '../model/moments.ts';
import { wordsFor } from '../model/words.ts';
import { beginOf } from '../state/history-begin.ts';
import { change } from '../state/place.ts';
import { Icon } from './icons.tsx';
import { Text } from './text.tsx';

/** A little later than the oldest time, which advances meanwhile. */
const shortlyAfter = (begin: number): string => new Date(begin + 2 * SECOND).toISOString();

/** An error in words, with advice. */
export function Trouble({ error, retry }: { error: unknown; retry?: () => void }): JSX.Element {
  const { title, detail, remedy } = wordsFor(error);
  const begin = beginOf(error);
  return (
    <div class="notice trouble" role="alert">
      <Icon name="alert" />
      <div>
        <h2>{title}</h2>
        <p>
          <Text of={detail} />
        </p>
        {remedy === 'now' && (
          <div class="notice-actions">
            {begin !== undefined && (
              <button type="button" onClick={() => change({ at: shortlyAfter(begin) }, { replace: true })}>
                Go to the oldest moment
              </button>
            )}
            <button type="button" onClick={() => change({ at: '' })}>
              Back to now
            </button>
          </div>
        )}
        {remedy === 'retry' && retry !== undefined && (
          <button type="button" onClick={retry}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}

/** Explains above outdated data why it is not current. */
export function Kept({ error }: { error: unknown }): JSX.Element {
  const { title, detail } = wordsFor(error);
  return (
    <div class="lost" role="alert">
      <Icon name="alert" />
      <p>
        <b>{title}.</b> <Text of={detail} /> What you see is what was read before.
      </p>
    </div>
  );
}

/** Explains why there is nothing to show. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="notice empty">
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

/** Grey lines in place of text. They appear late, so that quick loads do not flicker. */
export function Loading({ lines = 8, label = 'Loading' }: { lines?: number; label?: string }): JSX.Element {
  return (
    <div class="loading" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class={`loading-line loading-${index % 4}`} />
      ))}
    </div>
  );
}
