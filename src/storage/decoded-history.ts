import type { History, HistoryBegin, LogPage, LogQuery } from './history.ts';
import type { Revision } from './revision.ts';
import { decodeAll, type StoredCodec } from './stored-codec.ts';

/** Decodes a history whose objects are stored in other forms than JSON. */
export class DecodedHistory implements History {
  readonly #history: History;
  readonly #codec: StoredCodec;

  constructor(history: History, codec: StoredCodec) {
    this.#history = history;
    this.#codec = codec;
  }

  revisionAt(moment: string): Promise<Revision | 'future' | undefined> {
    return this.#history.revisionAt(moment);
  }

  begin(): Promise<HistoryBegin> {
    return this.#history.begin();
  }

  newest(): Promise<Revision> {
    return this.#history.newest();
  }

  async rows(query: LogQuery): Promise<LogPage> {
    const page = await this.#history.rows(query);
    if (query.states === 'none') return page;
    return { ...page, rows: await decodeAll(page.rows, (row) => this.#codec.decodeBoth(row)) };
  }
}
