import { describe, expect, it } from 'vitest';
import { ApiError } from './api';
import { Submission } from './submission.svelte';

function submit(): SubmitEvent {
  return new Event('submit', { cancelable: true }) as SubmitEvent;
}

describe('a form that is sent', () => {
  it('is busy until it is done, and leaves nothing to the browser', async () => {
    const form = new Submission();
    const event = submit();
    let done = (): void => {};
    const sent = form.send(event, () => new Promise((resolve) => (done = resolve)));
    expect([event.defaultPrevented, form.isBusy]).toEqual([true, true]);
    done();
    await sent;
    expect([form.isBusy, form.error]).toEqual([false, null]);
  });

  it('tells an error beside its field, and any other by itself', async () => {
    const form = new Submission();
    const refused = new ApiError(400, 'invalid_parameter', 'No.', '', [
      { field: 'label', code: 'invalid_parameter', detail: 'at most 256 characters' },
    ]);
    await form.send(submit(), () => Promise.reject(refused));
    expect([form.isBusy, form.error]).toEqual([false, refused]);
    expect([form.wrong('label'), form.wrong('scopes')]).toEqual(['At most 256 characters.', null]);
    expect([form.generalError('label', 'scopes'), form.generalError('scopes')]).toEqual([null, refused]);

    await form.send(submit(), () => Promise.reject(new TypeError('broken')));
    expect([form.wrong('label'), form.generalError('label')]).toEqual([null, new TypeError('broken')]);
    await form.send(submit(), () => Promise.resolve());
    expect(form.error).toBeNull();
  });
});
