// The parts of the page for webhooks. They are here and not in the page, so that only those load them who need them.

const parts = `
<section class="inside" id="hooks" aria-labelledby="title" hidden>
  <p class="summary" id="hook-summary" role="status"></p>
  <table class="list" id="hook-list" role="table" aria-labelledby="title" hidden>
    <thead role="rowgroup">
      <tr role="row"><th scope="col" role="columnheader">Name</th><th scope="col" role="columnheader">State</th><th scope="col" role="columnheader">Behind</th><th scope="col" role="columnheader">Position</th></tr>
    </thead>
    <tbody role="rowgroup" id="hook-rows"></tbody>
  </table>
  <section class="empty" id="hook-empty" hidden>
    <h2>No webhooks yet</h2>
    <p>A webhook is the address of a program that wants to know what happens in this store.</p>
    <button type="button" class="primary" id="hook-make">Make a webhook</button>
  </section>
</section>

<article class="one inside" id="hook" aria-labelledby="hook-name" hidden>
  <a class="quiet back" id="hook-back" href="console?view=webhooks"><svg viewBox="0 0 12 12" aria-hidden="true"><path d="M7.5 2 3.5 6l4 4"/></svg>All webhooks</a>
  <header>
    <div>
      <p class="state" id="hook-state"><svg aria-hidden="true"><use/></svg><span></span></p>
      <h1 id="hook-name" tabindex="-1" dir="auto"></h1>
    </div>
    <div class="row" id="hook-actions">
      <button type="button" data-action="ping">Ping</button>
      <button type="button" data-action="change">Change</button>
      <button type="button" data-action="enable">Enable</button>
      <button type="button" data-action="disable">Disable</button>
      <button type="button" data-action="replay">Replay</button>
      <button type="button" data-action="rotate">Rotate</button>
      <button type="button" class="danger" data-action="delete">Delete</button>
    </div>
  </header>
  <p class="own" id="hook-reason" hidden></p>
  <dl class="facts" id="hook-facts"></dl>
  <section class="usage" aria-labelledby="hook-deliveries-title">
    <h2 id="hook-deliveries-title">Last deliveries</h2>
    <p id="hook-untried">Nothing was sent in the last seven days.</p>
    <div class="scroll" id="hook-tried" role="region" aria-labelledby="hook-deliveries-title" tabindex="0" hidden>
      <table>
        <thead><tr><th scope="col">When</th><th scope="col">Event</th><th scope="col">Answer</th><th scope="col">Took</th></tr></thead>
        <tbody id="hook-deliveries"></tbody>
      </table>
    </div>
  </section>
</article>

<dialog id="hook-form" aria-labelledby="hook-form-title">
  <form id="hook-fields" novalidate autocomplete="off">
    <h2 id="hook-form-title">Make a webhook</h2>
    <div class="field">
      <label for="url">Address</label>
      <input id="url" name="url" inputmode="url" spellcheck="false" aria-required="true" aria-describedby="url-hint url-error">
      <p class="hint" id="url-hint">Where events go, such as https://example.com/hooks</p>
      <p class="error" id="url-error" role="alert"></p>
    </div>
    <div class="field">
      <label for="types">Events</label>
      <input id="types" name="types" spellcheck="false" autocapitalize="off" aria-describedby="types-hint types-error">
      <p class="hint" id="types-hint">Such as “pet.*, order.placed”; every event if left empty or “*”</p>
      <p class="error" id="types-error" role="alert"></p>
    </div>
    <div class="field">
      <label for="description">Description</label>
      <input id="description" name="description" aria-describedby="description-error">
      <p class="error" id="description-error" role="alert"></p>
    </div>
    <div class="notice" id="hook-notice" role="status"></div>
    <div class="row end">
      <button type="button" class="quiet" id="hook-cancel">Cancel</button>
      <button class="primary" id="hook-send">Make the webhook</button>
    </div>
  </form>
</dialog>

<dialog id="replay" aria-labelledby="replay-title" aria-describedby="replay-text">
  <form id="replay-form" novalidate autocomplete="off">
    <h2 id="replay-title">Replay</h2>
    <p class="hint" id="replay-text">Moves the webhook in the feed. The receiver gets events again that follow the position.</p>
    <fieldset class="field">
      <legend>Go on</legend>
      <div class="options">
        <label><input type="radio" name="from" value="position" checked><span>after an event</span></label>
        <label><input type="radio" name="from" value="now"><span>with what happens from now on</span></label>
      </div>
    </fieldset>
    <div class="field" id="position-field">
      <label for="position">Id of the event</label>
      <input id="position" name="position" spellcheck="false" autocapitalize="off">
    </div>
    <div class="row end">
      <button type="button" class="quiet">Cancel</button>
      <button class="primary" id="send-replay">Replay</button>
    </div>
  </form>
</dialog>

<template id="hook-row">
  <tr role="row">
    <th scope="row" role="rowheader" class="name"><div dir="auto"><a></a></div></th>
    <td role="cell"><p class="state"><svg aria-hidden="true"><use/></svg><span></span></p></td>
    <td role="cell" data-label="Behind"></td>
    <td role="cell" data-label="Position"></td>
  </tr>
</template>`;

/** Adds the parts to the page, before what the page says at its end. */
export const addParts = () => document.getElementById("said").insertAdjacentHTML("beforebegin", parts);
