import { closeNotice, notice, shownNotice } from '../state/notices.ts';

/** The notice at the bottom of the window, and the texts that only screen readers tell. */
export const Notices = () => (
  <>
    <p class="unseen" role="status">
      {notice.value}
    </p>
    <div role="status">
      {shownNotice.value && (
        <p class="notice">
          <span>{shownNotice.value.text}</span>{' '}
          {shownNotice.value.href !== undefined && <a href={shownNotice.value.href}>View request</a>}{' '}
          <button type="button" class="quiet" onClick={closeNotice}>
            Close<span class="unseen"> the notice</span>
          </button>
        </p>
      )}
    </div>
  </>
);
