import type { ComponentChildren, JSX } from 'preact';
import { ageOf, clockOf } from '../model/moments.ts';
import { piecesOf } from '../model/text.ts';
import { now, shownAt } from '../state/page-clock.ts';

/** Untrusted text: shows invisible characters by their code. */
export function Text({ of }: { of: string }): JSX.Element {
  const pieces = piecesOf(of);
  if (pieces.length === 1 && pieces[0]?.kind === 'text') return <>{of}</>;
  return (
    <>
      {pieces.map(({ kind, text }, index) =>
        kind === 'text' ? (
          text
        ) : (
          <span key={index} class="unseen" title="a character that cannot be seen">
            {text}
          </span>
        ),
      )}
    </>
  );
}

/** The age at the time that the page shows. */
export function Age({ since }: { since: string | undefined }): JSX.Element {
  const at = Date.parse(since ?? '');
  if (Number.isNaN(at)) return <span class="faint">–</span>;
  return (
    <time dateTime={since} title={new Date(at).toLocaleString()}>
      {ageOf((shownAt.value ?? now.value) - at)}
    </time>
  );
}

export function Moment({ at }: { at: string | undefined }): JSX.Element {
  const ms = Date.parse(at ?? '');
  if (Number.isNaN(ms)) return <span class="faint">–</span>;
  return (
    <time dateTime={at} title={new Date(ms).toLocaleString()}>
      {clockOf(ms, now.value)}
    </time>
  );
}

/** The name of a user or program, with its colour. */
export function Author({ name, colour }: { name: string; colour: number }): JSX.Element {
  return (
    <span class={`author author-${colour}`}>
      <span class="author-mark" aria-hidden="true" />
      <span class="author-name">
        <Text of={name === '' ? 'unknown' : name} />
      </span>
    </span>
  );
}

/** Shortens `system:serviceaccount:kube-system:replicaset-controller` to replicaset-controller. */
export const shortAuthor = (name: string): string => name.replace(/^system:serviceaccount:[^:]+:/, '');

export function Key({ children }: { children: ComponentChildren }): JSX.Element {
  return <kbd>{children}</kbd>;
}
