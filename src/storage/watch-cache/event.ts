import type { Revision } from '../revision.ts';
import type { Entry, FrameEncoder, WatchEventType } from '../store.ts';
import type { KeptFrames } from './kept-frames.ts';

/**
 * One change, as all watchers of a resource share it. What a watcher is told depends on which of the two states its selector
 * matches; the bytes of each telling are made once for each encoder and shared by all who are told within a moment.
 */
export class SharedEvent {
  readonly revision: Revision;
  /** The state after the change; undefined for a deletion. */
  readonly entry: Entry | undefined;
  /** The state before it, or for a deletion the last one; undefined for a creation. */
  readonly previous: Entry | undefined;
  readonly #kept: KeptFrames | undefined;
  #frames: Map<string, Buffer> | undefined;

  /** Without `kept`, for whoever is the only one to be told. */
  constructor(change: Pick<SharedEvent, 'revision' | 'entry' | 'previous'>, kept?: KeptFrames) {
    const { revision, entry, previous } = change;
    this.revision = revision;
    this.entry = entry;
    this.previous = previous;
    this.#kept = kept;
  }

  get sizeBytes(): number {
    return (this.entry?.json.length ?? 0) + (this.previous?.json.length ?? 0);
  }

  /** Undefined: the change does not concern a watcher with this selector. */
  typeFor(matches: ((entry: Entry) => boolean) | undefined): WatchEventType | undefined {
    const now = this.entry !== undefined && (matches === undefined || matches(this.entry));
    const before = this.previous !== undefined && (matches === undefined || matches(this.previous));
    if (now) return before ? 'MODIFIED' : 'ADDED';
    return before ? 'DELETED' : undefined;
  }

  frame(type: WatchEventType, encoder: FrameEncoder): Buffer {
    const id = `${type} ${encoder.id}`;
    const known = this.#frames?.get(id);
    if (known !== undefined) return known;
    const shown = type === 'DELETED' ? this.previous : this.entry;
    if (shown === undefined) throw new Error(`a ${type} event without an object`);
    const frame = encoder.encode({ type, entry: shown, revision: this.revision });
    this.#frames ??= new Map();
    this.#frames.set(id, frame);
    this.#kept?.add(this, frame.length);
    return frame;
  }

  dropFrames(): void {
    this.#frames = undefined;
  }
}
