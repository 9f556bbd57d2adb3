import unittest

from session import answer

CALL = {"id": "c1", "name": "look", "args": {"at": "the door"}}
INPUT = {
    "storage": "not used by a list",
    "system": "Be brief.",
    "tools": {"look": {"byId": {"c1": "it is open"}}},
    "runs": [
        {"message": "Is it open?", "model": [{"tool_calls": [CALL]}, {"content": "Yes."}]},
        {"message": "Fails", "model": [{"error": "overloaded"}]},
        {"message": "Thanks", "model": [{"content": "Bye."}]},
    ],
}


class Session(unittest.TestCase):
    def test_hello_names_the_features(self):
        hello = answer({"id": 0, "op": "hello", "protocol": 1})["ok"]
        self.assertEqual((hello["ops"], hello["profiles"]), (["session"], ["universal"]))
        self.assertIn("message", hello["session"])

    def test_each_run_is_reported_and_begins_with_the_one_before(self):
        first, failed, last = answer({"id": 7, "op": "session", "input": INPUT})["ok"]["runs"]
        self.assertEqual(first["executed"], [CALL])
        self.assertEqual([len(request) for request in first["requests"]], [2, 4])
        self.assertIn("overloaded", failed["failure"])
        texts = [message["content"] for message in last["requests"][0]]
        self.assertEqual(texts, ["Be brief.", "Is it open?", "", "it is open", "Yes.", "Fails", "Thanks"])


if __name__ == "__main__":
    unittest.main()
