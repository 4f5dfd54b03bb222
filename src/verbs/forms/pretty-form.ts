import type { Body } from '../../codec/chunks.ts';
import { prettyBody } from '../../codec/pretty-json.ts';
import type { Entry } from '../../storage/store.ts';
import type { Form, Frames, ListHead, Stored } from './form.ts';

/** A form of JSON, with line breaks. Watches have none: their frames end with the line. */
export class PrettyForm implements Form {
  readonly contentType: string;
  readonly frames: Frames;
  readonly #compact: Form;

  constructor(compact: Form) {
    this.contentType = compact.contentType;
    this.frames = compact.frames;
    this.#compact = compact;
  }

  object(stored: Stored): Body {
    return prettyBody(this.#compact.object(stored));
  }

  async list(entries: readonly Entry[], head: ListHead): Promise<Body> {
    return prettyBody(await this.#compact.list(entries, head));
  }

  first(frame: Buffer): Buffer {
    return this.#compact.first?.(frame) ?? frame;
  }
}
