# kitty runs this in its own process, in one step (kitty 0.26.5): it returns what a window shows, or presses a key if the window shows the
# rows that it must show.
import json

from kittens.tui.handler import result_handler


def main(args):
    pass


def refused(why):
    return json.dumps({'refused': why})


@result_handler(no_ui=True)
def handle_result(args, answer, target_window_id, boss):
    order = json.loads(args[1])
    window = boss.window_id_map.get(target_window_id)
    if window is None:
        return refused('it is gone')
    if window.screen.scrolled_by:
        return refused('it shows its history')
    lines = [line.rstrip(' ') for line in window.as_text().split('\n')]
    if not order.get('key'):
        return json.dumps({'lines': lines})
    if getattr(window, 'rollcall_answered', None) == order['name']:
        return refused('it was answered already')
    for row, text in order['rows'].items():
        if int(row) >= len(lines) or lines[int(row)] != text:
            return refused('its text has changed')
    window.rollcall_answered = order['name']
    window.write_to_child(order['key'])
    return json.dumps({'pressed': True})
