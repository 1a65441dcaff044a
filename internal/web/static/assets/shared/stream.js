// Reads a stream of events. The page uses fetch, because EventSource cannot send the key.

import { Refusal, Unreachable, parseJSON, refusal, send } from "./api.js";

/** The milliseconds after which a stream is taken to be broken. The server sends something every 15 seconds. */
export const longestSilence = 40_000;

/** The stream is open, but nothing has arrived for too long. A proxy may hold the answer back. */
export class Silent extends Error {}

/** Finds the frames in the text of a stream, which may arrive in pieces of any size. */
export class FrameParser {
  #rest = ""; // the beginning of a line
  #afterReturn = false; // whether the text so far ends with a carriage return
  #frame = {};

  /** The frames that the next piece of text completes. A frame has those of id, event, data and retry that the server sent. */
  push(text) {
    if (!text) return [];
    const fresh = this.#afterReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#afterReturn = text.endsWith("\r");
    const lines = (this.#rest + fresh).split(/\r\n|\r|\n/);
    this.#rest = lines.pop();
    return lines.flatMap((line) => this.#take(line));
  }

  #take(line) {
    if (line === "") {
      const frame = this.#frame;
      this.#frame = {};
      return Object.keys(frame).length ? [frame] : [];
    }
    const [, name, value] = line.match(/^([^:]*)(?:: ?)?(.*)$/s);
    if (name === "data") this.#frame.data = "data" in this.#frame ? `${this.#frame.data}\n${value}` : value;
    else if (name === "event" || (name === "id" && !value.includes("\0"))) this.#frame[name] = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.#frame.retry = Number(value);
    return [];
  }
}

/**
 * Reads a stream until it ends, and calls back with each frame. The argument last is the id after which the stream begins.
 * The promise rejects with a Refusal, an Unreachable, a Silent, or the reason of the signal.
 */
export async function readStream(url, { last, signal, silence = longestSilence }, callback) {
  const quiet = new AbortController();
  let timer;
  const listen = () => {
    clearTimeout(timer);
    timer = setTimeout(() => quiet.abort(new Silent()), silence);
  };
  listen();
  const either = AbortSignal.any([signal, quiet.signal]);
  const [decoder, parser] = [new TextDecoder(), new FrameParser()];
  try {
    const headers = { Accept: "text/event-stream", ...(last && { "Last-Event-ID": last }) };
    const answer = await send(url, { headers, signal: either, priority: "low" }); // the page comes first
    if (!answer.headers.get("Content-Type")?.startsWith("text/event-stream")) throw refusal(answer, parseJSON(await answer.text()));
    const reader = answer.body.getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      listen();
      for (const frame of parser.push(decoder.decode(piece.value, { stream: true }))) callback(frame);
    }
  } catch (error) {
    throw either.aborted ? either.reason : error instanceof Refusal ? error : new Unreachable();
  } finally {
    clearTimeout(timer);
  }
}
