import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useKeys } from '../state/key-handlers.ts';
import { Icon } from './icons.tsx';
import { Key } from './text.tsx';

const KEYS: readonly (readonly [readonly string[], string])[] = [
  [['/'], 'Search'],
  [['g'], 'Find a kind'],
  [['j', 'k'], 'Down and up in a list'],
  [['Enter'], 'Open what is selected'],
  [['1', '5'], 'The first to the fifth view of an object'],
  [['['], 'Back in time, a change at a time'],
  [[']'], 'Forward in time'],
  [['n'], 'Back to now'],
  [['c'], 'All changes'],
  [['w'], 'All columns'],
  [['t'], 'Dark or light'],
  [['Esc'], 'Close, or back to the list'],
  [['?'], 'This page'],
];

export function Help({ close }: { close: () => void }): JSX.Element {
  return (
    <Dialog title="Keyboard" close={close}>
      <dl class="keys">
        {KEYS.map(([keys, meaning]) => (
          <div key={meaning}>
            <dt>
              {keys.map((key) => (
                <Key key={key}>{key}</Key>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly class?: string;
  readonly children: preact.ComponentChildren;
}

/** The browser's own dialog keeps the focus inside, and restores it. */
export function Dialog({ title, close, children, class: own = '' }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  useKeys({ Escape: close });
  return (
    <dialog
      ref={dialog}
      class={own}
      aria-label={title}
      onClose={close}
      onClick={({ target, currentTarget }) => target === currentTarget && close()}
    >
      <header>
        <h2>{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
