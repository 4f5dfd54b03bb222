import type { ComponentChildren, JSX } from 'preact';
import { isSignedOut } from '../api/client.ts';
import { wordsFor } from '../model/words.ts';
import { change } from '../state/place.ts';
import { Icon } from './icons.tsx';
import { Text } from './text.tsx';

/** An error told in words, with what can be done about it. */
export function Trouble({ error, retry }: { error: unknown; retry?: () => void }): JSX.Element {
  const { title, detail, remedy } = wordsFor(error);
  return (
    <div class="notice trouble" role="alert">
      <Icon name="alert" />
      <div>
        <h2>{title}</h2>
        <p>
          <Text of={detail} />
        </p>
        {remedy === 'sign-in' && (
          <button
            type="button"
            onClick={() => {
              isSignedOut.value = true;
            }}
          >
            Sign in
          </button>
        )}
        {remedy === 'now' && (
          <button type="button" onClick={() => change({ at: '' })}>
            Back to now
          </button>
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

/** There is nothing to show, and why. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="notice empty">
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

/** Grey lines where text will be. They appear late, so that what is quick does not flicker. */
export function Loading({ lines = 8, label = 'Loading' }: { lines?: number; label?: string }): JSX.Element {
  return (
    <div class="loading" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class={`loading-line loading-${index % 4}`} />
      ))}
    </div>
  );
}
